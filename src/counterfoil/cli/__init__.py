"""The command line. Commands are thin: they read options, call the package, and print."""


def main() -> None:
    """Runs `counterfoil` with the arguments of the process, and exits with its status."""
    import sys

    from counterfoil.cli.app import run

    sys.exit(run(sys.argv[1:]))
