package cases;

/** FL_PUBLIC_SHOULD_BE_PROTECTED. */
public class Finalizers {
    @Override
    public void finalize() {}

    static class Protected {
        @Override
        protected void finalize() {}
    }

    static class Other {
        public void finalize(int now) {}
    }
}
