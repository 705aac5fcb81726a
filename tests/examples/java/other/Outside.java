package other;

import cases.Statics;

/** What is used from another package, directly and through a subclass. */
public class Outside extends Statics {
    static int total() {
        return USED_OUTSIDE[0] + Statics.counterOutside + Statics.readOutside;
    }

    static void assign() {
        Outside.inherited = 5;
    }
}
