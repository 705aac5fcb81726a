package cases;

import javax.swing.JFrame;
import javax.swing.JTable;
import javax.swing.SwingUtilities;

/** SW_SWING_METHODS_INVOKED_IN_SWING_THREAD. */
public class Windows {
    static class Frame extends JFrame {}

    static class Big extends Frame {}

    public static void main(String[] arguments) {
        JFrame frame = new JFrame();
        frame.pack();
        frame.setVisible(true);
        frame.setTitle("title");
        new Big().pack();
        new Windows().setVisible(true);
    }

    void setVisible(boolean visible) {}

    static class Later {
        public static void main(String[] arguments) {
            SwingUtilities.invokeLater(
                    new Runnable() {
                        @Override
                        public void run() {
                            new JFrame().pack();
                        }
                    });
        }

        static void main(JTable notTheMainMethod) {
            notTheMainMethod.setVisible(true);
        }
    }
}
