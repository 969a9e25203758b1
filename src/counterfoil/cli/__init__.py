"""The command line. Commands are thin: they read options, call the package, and print."""


def main() -> None:
    """Runs `counterfoil` with the arguments of the process, and exits with its status."""
    import signal
    import sys

    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, _interrupted_while_importing)
    from counterfoil.cli.app import run
    from counterfoil.cli.failure import INTERRUPTED

    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if (status := run(sys.argv[1:])) == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and done: one more is not to end in a traceback
        # An interrupt that came up within code made of a text, as dataclasses are, has Python end by the signal in
        # place of the status, unless more such code has run since.
        exec("")
    sys.exit(status)


def _interrupted_while_importing(*_: object) -> None:
    """Ends the process at once: an exception might be taken for a module that can't be imported."""
    import os
    import sys

    sentence = "Interrupted. Nothing was charged, and no file was written."
    if "--json" in sys.argv:
        os.write(1, f'{{\n  "error": "{sentence}",\n  "status": 130\n}}\n'.encode())
    os.write(2, f"counterfoil: {sentence}\n".encode())
    os._exit(130)
