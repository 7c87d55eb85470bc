package coact.peer.persistence;

/** What can happen to a counter: by how much it counts, and a note that makes the event as long as those of programs are. */
record Counted(long by, String note) {
    private static final int NOTE = 100;

    static Counted by(long by) {
        return new Counted(by, "n".repeat(NOTE));
    }
}
