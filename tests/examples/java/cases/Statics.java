package cases;

import java.util.Hashtable;

/** MS_PKGPROTECT and MS_SHOULD_BE_FINAL. */
public class Statics {
    // A final array or table that only its package uses could be private to the package.
    public static final int[] NUMBERS = {1, 2, 3};
    protected static final Hashtable<String, String> TABLE = new Hashtable<>();
    public static final int[] EMPTY = {};
    public static final String[] EMPTY_TEXTS = new String[0];
    public static final int[] USED_OUTSIDE = {1, 2, 3};
    public static final String TEXT = new String("immutable");
    static final int[] ALREADY_PACKAGED = {1};
    private static final int[] PRIVATE = {1};

    // So could a field that is assigned again, if only its package uses it.
    public static int counter;
    public static int counterOutside;
    public static volatile int shared;
    protected static int inherited;

    // A field that nothing assigns again could be final.
    public static String constant = new String("never assigned again");
    public static int readOutside = 7;
    protected static int[] emptyToo = {};
    static int notOpen = 1;
    private static int notOpenEither = 1;

    static void count() {
        counter++;
        counterOutside++;
        shared++;
        notOpen = PRIVATE.length + notOpenEither;
    }
}

class Hidden {
    public static int assignedNowhere;
    public static final int[] NUMBERS = {1, 2, 3};
}
