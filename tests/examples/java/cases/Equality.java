package cases;

/** EQ_ABSTRACT_SELF. */
public abstract class Equality {
    public abstract boolean equals(Equality other);

    abstract static class OfObject {
        @Override
        public abstract boolean equals(Object other);
    }

    static class Concrete {
        public boolean equals(Concrete other) {
            return this == other;
        }
    }

    abstract static class OfOther {
        public abstract boolean equals(Equality other);
    }
}
