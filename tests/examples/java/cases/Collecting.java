package cases;

/** DM_GC and DM_RUN_FINALIZERS_ON_EXIT. */
public class Collecting {
    public static void main(String[] arguments) {
        System.gc();
    }

    void tidy() {
        System.gc();
    }

    void tidyRuntime(Runtime runtime) {
        runtime.gc();
    }

    void forceGC() {
        System.gc();
    }

    int[] allocate(int size) {
        try {
            return new int[size];
        } catch (OutOfMemoryError full) {
            System.gc();
            return new int[0];
        }
    }

    void gc() {}

    void ownMethod() {
        gc();
    }

    @SuppressWarnings("deprecation")
    void leaving() {
        System.runFinalizersOnExit(true);
    }

    @SuppressWarnings("deprecation")
    void leavingByRuntime() {
        Runtime.runFinalizersOnExit(false);
    }

    void finalizeNow() {
        System.runFinalization();
    }
}
