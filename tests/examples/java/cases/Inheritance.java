package cases;

/** CL_CONFUSED_INHERITANCE. */
public final class Inheritance {
    protected int confused;
    protected static String alsoConfused = "";
    private int hidden;
    int packaged;
    public int open;

    static class NotFinal {
        protected int fine;
    }
}
