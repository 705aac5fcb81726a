package cases;

/** CN_IDIOM and CN_IDIOM_NO_SUPER_CALL. */
public class Clones {
    static class NeverCloned implements Cloneable {
        int x;
    }

    static class UsesClone implements Cloneable {
        static int[] copy(int[] from) {
            return from.clone();
        }
    }

    static class Proper implements Cloneable {
        @Override
        public Object clone() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    interface Copyable extends Cloneable {}

    static class NoSuperCall implements Cloneable {
        @Override
        public Object clone() {
            return new NoSuperCall();
        }
    }

    /** Cloneable through an interface and a class between. */
    abstract static class Between implements Copyable {}

    static class Indirect extends Between {
        @Override
        public Indirect clone() {
            return new Indirect();
        }
    }

    static final class FinalNeedsNoSuper implements Cloneable {
        @Override
        public Object clone() {
            return new FinalNeedsNoSuper();
        }
    }

    static class OnlyThrows implements Cloneable {
        @Override
        public Object clone() throws CloneNotSupportedException {
            throw new CloneNotSupportedException();
        }
    }

    static class NotCloneable {
        @Override
        public Object clone() {
            return new NotCloneable();
        }

        Object clone(int times) {
            return this;
        }
    }
}
