import ChimeDaemon

DaemonMain.run()
