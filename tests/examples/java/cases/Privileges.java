package cases;

import java.lang.reflect.Field;
import java.security.AccessController;
import java.security.PrivilegedAction;

/** DP_DO_INSIDE_DO_PRIVILEGED. */
public class Privileges {
    void open(Field field) {
        field.setAccessible(true);
    }

    private void openPrivately(Field field) {
        field.setAccessible(true);
    }

    void setAccessible(boolean ours) {}

    void openOurs() {
        setAccessible(true);
    }

    void openPrivileged(final Field field) {
        AccessController.doPrivileged(
                new PrivilegedAction<Void>() {
                    public Void run() {
                        field.setAccessible(true);
                        return null;
                    }
                });
    }

    interface Action extends PrivilegedAction<Void> {}

    static class Indirectly implements Action {
        Field field;

        @Override
        public Void run() {
            field.setAccessible(true);
            return null;
        }

        void notRun() {
            field.setAccessible(true);
        }
    }

    static class RunsOtherwise implements Runnable {
        Field field;

        @Override
        public void run() {
            field.setAccessible(true);
        }
    }
}
