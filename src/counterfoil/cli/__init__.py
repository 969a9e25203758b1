"""The command line. Commands are thin: they read options, call the package, and print."""


def main() -> None:
    """Runs `counterfoil` with the arguments of the process, and exits with its status."""
    import signal
    import sys

    from counterfoil.cli.app import run
    from counterfoil.cli.failure import INTERRUPTED

    if (status := run(sys.argv[1:])) == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and done: one more is not to end in a traceback
    sys.exit(status)
