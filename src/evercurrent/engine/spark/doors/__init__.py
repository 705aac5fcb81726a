"""The door to a session: all that is asked of it beside frames and SQL, for each kind of session.

classic  a session in this process, with its context and its JVM
connect  a session of Spark Connect, whose server is elsewhere
door     what is asked of either, and which of them a session needs
hadoop   files of Hadoop's file systems, through the JVM of a session
plans    plans, names and settings inside the JVM of a session, for declarative pipelines
"""
