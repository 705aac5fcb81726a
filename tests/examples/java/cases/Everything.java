package cases;

import java.util.function.Supplier;

/** Instructions of every shape, for the reader. */
public class Everything {
    static int dense(int x) {
        switch (x) {
            case -1: return 10;
            case 0: return 20;
            case 1: return 30;
            case 2: return 40;
            default: return 50;
        }
    }

    static String sparse(int x) {
        switch (x) {
            case -1000: return "a";
            case 5: return "b";
            case 1000000: return "c";
            default: return "d";
        }
    }

    static Supplier<String> lambda(String text) {
        return () -> text + "!";
    }

    static Object arrays(int n) {
        long[][][] cube = new long[n][n][];
        cube[0][0] = new long[n];
        return new Object[] {cube, new String[n], n > 0 ? null : cube.getClass()};
    }

    static Object constants(int n) {
        String text = "zero \0 and beyond \uD83D\uDE00";
        long big = 1L << 40;
        double tenth = 0.1;
        int small = n * -300 + -100 * n;
        return new Object[] {text, big, tenth, small, String.class};
    }

    static synchronized int loops(Object lock, Object other) {
        int n = 0;
        for (String s : new String[] {"a", null}) {
            synchronized (lock) {
                n += s == null ? 1 : s.length();
                n += other instanceof Integer ? (Integer) other : lock == other ? 2 : 3;
            }
        }
        return n;
    }

    static int manyLocals(int a0) {
        int a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0, a8 = a0, a9 = a0, a10 = a0, a11 = a0, a12 = a0;
        int a13 = a0, a14 = a0, a15 = a0, a16 = a0, a17 = a0, a18 = a0, a19 = a0, a20 = a0, a21 = a0, a22 = a0, a23 = a0, a24 = a0;
        int a25 = a0, a26 = a0, a27 = a0, a28 = a0, a29 = a0, a30 = a0, a31 = a0, a32 = a0, a33 = a0, a34 = a0, a35 = a0, a36 = a0;
        int a37 = a0, a38 = a0, a39 = a0, a40 = a0, a41 = a0, a42 = a0, a43 = a0, a44 = a0, a45 = a0, a46 = a0, a47 = a0, a48 = a0;
        int a49 = a0, a50 = a0, a51 = a0, a52 = a0, a53 = a0, a54 = a0, a55 = a0, a56 = a0, a57 = a0, a58 = a0, a59 = a0, a60 = a0;
        int a61 = a0, a62 = a0, a63 = a0, a64 = a0, a65 = a0, a66 = a0, a67 = a0, a68 = a0, a69 = a0, a70 = a0, a71 = a0, a72 = a0;
        int a73 = a0, a74 = a0, a75 = a0, a76 = a0, a77 = a0, a78 = a0, a79 = a0, a80 = a0, a81 = a0, a82 = a0, a83 = a0, a84 = a0;
        int a85 = a0, a86 = a0, a87 = a0, a88 = a0, a89 = a0, a90 = a0, a91 = a0, a92 = a0, a93 = a0, a94 = a0, a95 = a0, a96 = a0;
        int a97 = a0, a98 = a0, a99 = a0, a100 = a0, a101 = a0, a102 = a0, a103 = a0, a104 = a0, a105 = a0, a106 = a0, a107 = a0, a108 = a0;
        int a109 = a0, a110 = a0, a111 = a0, a112 = a0, a113 = a0, a114 = a0, a115 = a0, a116 = a0, a117 = a0, a118 = a0, a119 = a0, a120 = a0;
        int a121 = a0, a122 = a0, a123 = a0, a124 = a0, a125 = a0, a126 = a0, a127 = a0, a128 = a0, a129 = a0, a130 = a0, a131 = a0, a132 = a0;
        int a133 = a0, a134 = a0, a135 = a0, a136 = a0, a137 = a0, a138 = a0, a139 = a0, a140 = a0, a141 = a0, a142 = a0, a143 = a0, a144 = a0;
        int a145 = a0, a146 = a0, a147 = a0, a148 = a0, a149 = a0, a150 = a0, a151 = a0, a152 = a0, a153 = a0, a154 = a0, a155 = a0, a156 = a0;
        int a157 = a0, a158 = a0, a159 = a0, a160 = a0, a161 = a0, a162 = a0, a163 = a0, a164 = a0, a165 = a0, a166 = a0, a167 = a0, a168 = a0;
        int a169 = a0, a170 = a0, a171 = a0, a172 = a0, a173 = a0, a174 = a0, a175 = a0, a176 = a0, a177 = a0, a178 = a0, a179 = a0, a180 = a0;
        int a181 = a0, a182 = a0, a183 = a0, a184 = a0, a185 = a0, a186 = a0, a187 = a0, a188 = a0, a189 = a0, a190 = a0, a191 = a0, a192 = a0;
        int a193 = a0, a194 = a0, a195 = a0, a196 = a0, a197 = a0, a198 = a0, a199 = a0, a200 = a0, a201 = a0, a202 = a0, a203 = a0, a204 = a0;
        int a205 = a0, a206 = a0, a207 = a0, a208 = a0, a209 = a0, a210 = a0, a211 = a0, a212 = a0, a213 = a0, a214 = a0, a215 = a0, a216 = a0;
        int a217 = a0, a218 = a0, a219 = a0, a220 = a0, a221 = a0, a222 = a0, a223 = a0, a224 = a0, a225 = a0, a226 = a0, a227 = a0, a228 = a0;
        int a229 = a0, a230 = a0, a231 = a0, a232 = a0, a233 = a0, a234 = a0, a235 = a0, a236 = a0, a237 = a0, a238 = a0, a239 = a0, a240 = a0;
        int a241 = a0, a242 = a0, a243 = a0, a244 = a0, a245 = a0, a246 = a0, a247 = a0, a248 = a0, a249 = a0, a250 = a0, a251 = a0, a252 = a0;
        int a253 = a0, a254 = a0, a255 = a0, a256 = a0, a257 = a0, a258 = a0, a259 = a0, a260 = a0, a261 = a0, a262 = a0, a263 = a0, a264 = a0;
        int a265 = a0, a266 = a0, a267 = a0, a268 = a0, a269 = a0, a270 = a0, a271 = a0, a272 = a0, a273 = a0, a274 = a0, a275 = a0, a276 = a0;
        int a277 = a0, a278 = a0, a279 = a0, a280 = a0, a281 = a0, a282 = a0, a283 = a0, a284 = a0, a285 = a0, a286 = a0, a287 = a0, a288 = a0;
        int a289 = a0, a290 = a0, a291 = a0, a292 = a0, a293 = a0, a294 = a0, a295 = a0, a296 = a0, a297 = a0, a298 = a0, a299 = a0;
        a0--;
        a299 += 1000;
        return a299;
    }
}
