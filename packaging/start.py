"""What a packaged program runs: PyInstaller wants a file, not a module's name."""

from inspector.__main__ import main

if __name__ == "__main__":
    main()
