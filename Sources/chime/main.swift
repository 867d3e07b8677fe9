import ChimeCommand

CommandMain.run()
