package cases;

/** UG_SYNC_SET_UNSYNC_GET. */
public class Locking {
    private int count;
    private String name;
    private long both;
    private double block;
    private char never;
    private static int total;

    public int getCount() {
        return count;
    }

    public synchronized void setCount(int count) {
        this.count = count;
    }

    public String getName() {
        return name;
    }

    public synchronized void setName(String name, boolean twoParameters) {
        this.name = name;
    }

    public synchronized long getBoth() {
        return both;
    }

    public synchronized void setBoth(long both) {
        this.both = both;
    }

    public double getBlock() {
        synchronized (this) {
            return block;
        }
    }

    public synchronized void setBlock(double block) {
        this.block = block;
    }

    public char getNever() {
        return never;
    }

    public void setNever(char never) {
        this.never = never;
    }

    public static int getTotal() {
        return total;
    }

    public static synchronized void setTotal(int total) {
        Locking.total = total;
    }

    public int[] getArrays() {
        return new int[count];
    }

    public synchronized void setArrays(String[][] arrays) {
        count = arrays.length;
    }
}
