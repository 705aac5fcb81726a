package cases;

import java.io.Externalizable;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.io.Serializable;

/** SE_BAD_FIELD_INNER_CLASS. */
public class Inner {
    int state;

    class Member implements Serializable {
        int get() {
            return state;
        }
    }

    abstract static class Base implements Serializable {}

    Object anonymous() {
        return new Base() {
            @Override
            public int hashCode() {
                return state;
            }
        };
    }

    static class Nested implements Serializable {}

    class NotSerializable {
        int get() {
            return state;
        }
    }

    class Written implements Externalizable {
        @Override
        public void writeExternal(ObjectOutput out) {}

        @Override
        public void readExternal(ObjectInput in) {
            state++;
        }
    }

    static class Outer extends Base {
        int state;

        class InSerializable implements Serializable {
            int get() {
                return state;
            }
        }
    }
}
