package cases;

/** BX_BOXING_IMMEDIATELY_UNBOXED_TO_PERFORM_COERCION. */
public class Boxing {
    static int constructed(double d) {
        return new Double(d).intValue();
    }

    static long boxedByValueOf(int i) {
        return Integer.valueOf(i).longValue();
    }

    static double sameType(double d) {
        return new Double(d).doubleValue();
    }

    static int fromText(String s) {
        return new Double(s).intValue();
    }

    static int notAtOnce(double d) {
        Double boxed = d;
        return boxed.intValue();
    }

    static int textOf(double d) {
        return new Double(d).toString().length();
    }
}
