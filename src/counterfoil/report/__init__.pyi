"""The public names of `counterfoil.report`, each from its home."""

from counterfoil.report.writing import report_of as report_of
from counterfoil.report.writing import write_report as write_report
