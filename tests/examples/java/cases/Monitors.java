package cases;

/** IMSE_DONT_CATCH_IMSE. */
public class Monitors {
    void caught(Object lock) {
        try {
            lock.notify();
        } catch (IllegalMonitorStateException wrong) {
            throw wrong;
        }
    }

    void caughtAmongOthers(Object lock) {
        try {
            lock.notify();
        } catch (IllegalMonitorStateException | IllegalArgumentException wrong) {
            return;
        }
    }

    void caughtAbove(Object lock) {
        try {
            lock.notify();
        } catch (RuntimeException wrong) {
            return;
        }
    }

    void thrown() {
        throw new IllegalMonitorStateException();
    }
}
