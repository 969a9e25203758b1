"""A path for Spark that leads nowhere is refused before Spark is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources import spark_source
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.spark_path import require_there

MISSING = r"There is no file or folder .*/nowhere for Spark to read\. Correct the path"


class Started(Exception):
    """Spark would have been started."""


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Nothing says that paths are elsewhere; returns the folder of Spark's settings."""
    for name in ("SPARK_REMOTE", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "conf"
    folder.mkdir()
    monkeypatch.setenv("SPARK_CONF_DIR", str(folder))
    return folder


@pytest.mark.parametrize("start", ["", "file:", "file://", "FILE://localhost"])
def test_spark_is_not_started_for_a_path_that_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, start: str
) -> None:
    pytest.importorskip("pyspark")

    def started(*_: object) -> None:
        raise Started

    monkeypatch.setattr(spark_source, "_is_running", lambda kind: False)
    monkeypatch.setattr(spark_source, "_started", started)
    if start != "file:":  # Spark's own addresses have `://`, or no scheme
        with pytest.raises(SourceError, match=MISSING):
            open_source(f"spark+parquet://{start}{tmp_path}/nowhere")
        with pytest.raises(SourceError, match="can't be started"):  # what is there is left to Spark
            open_source(f"spark+parquet://{start}{tmp_path}")
    with pytest.raises(SourceError, match=MISSING):
        require_there(f"{start}{tmp_path}/nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(SourceError, match="no file or folder"):
        require_there(f"{start}{tmp_path}/file/within")
    require_there(f"{start}{tmp_path}/file")


@pytest.mark.parametrize(
    "path",
    ["hdfs://host/people", "s3a://bucket/people", "/nowhere/*.parquet", "/nowhere/{a,b}", "/nowhere/[ab]", "people"],
)
def test_what_only_spark_can_know_is_left_to_it(path: str) -> None:
    require_there(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HADOOP_CONF_DIR", "/etc/hadoop"),
        ("YARN_CONF_DIR", "/etc/hadoop"),
        ("PYSPARK_GATEWAY_PORT", "1"),
        ("PYSPARK_SUBMIT_ARGS", "--conf spark.hadoop.fs.defaultFS=hdfs://host pyspark-shell"),
        ("PYSPARK_SUBMIT_ARGS", "--properties-file other.conf pyspark-shell"),
    ],
)
def test_a_path_without_a_scheme_may_be_elsewhere_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    with pytest.raises(SourceError, match=MISSING):
        require_there("/nowhere")
    monkeypatch.setenv(name, value)
    require_there("/nowhere")
    with pytest.raises(SourceError, match=MISSING):
        require_there("file:///nowhere")


@pytest.mark.parametrize(
    ("name", "text", "elsewhere"),
    [
        ("spark-env.sh", "", True),
        ("core-site.xml", "<configuration/>", True),
        ("spark-defaults.conf", "spark.hadoop.fs.defaultFS hdfs://host", True),
        ("spark-defaults.conf", "spark.master local[2]", False),
    ],
)
def test_a_path_without_a_scheme_may_be_elsewhere_by_settings(
    no_settings: Path, name: str, text: str, elsewhere: bool
) -> None:
    (no_settings / name).write_text(text)
    if elsewhere:
        require_there("/nowhere")
        return
    with pytest.raises(SourceError, match=MISSING):
        require_there("/nowhere")


def test_the_files_of_a_server_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://host")
    require_there("file:///nowhere")
