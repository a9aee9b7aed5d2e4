// What is asked of the front end's scripts beside their format (prettier) and their rooms
// (tests/test_rooms.py): nothing unused, nothing unknown, nothing too tangled.

import js from "@eslint/js";
import { importX } from "eslint-plugin-import-x";
import globals from "globals";

/** What the import map of a page names, and what a test installs for itself. */
const NAMED_ELSEWHERE = [
  "^@preact/",
  "^@observablehq/",
  "^htm/",
  "^preact",
  "^socket\\.io",
  "^pyodide$",
];

export default [
  { ignores: ["static/vendor/", "tests/e2e/vendor/", ".venv/"] },
  js.configs.recommended,
  {
    plugins: { "import-x": importX },
    languageOptions: { ecmaVersion: "latest", sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      complexity: ["error", 25],
      eqeqeq: "error",
      "import-x/export": "error",
      "import-x/first": "error",
      "import-x/named": "error",
      "import-x/namespace": "error",
      "import-x/newline-after-import": "error",
      "import-x/no-cycle": "error",
      "import-x/no-duplicates": "error",
      "import-x/no-self-import": "error",
      "import-x/no-unresolved": ["error", { ignore: NAMED_ELSEWHERE }],
      "import-x/no-useless-path-segments": "error",
      "import-x/order": [
        "error",
        {
          groups: [
            ["builtin", "external"],
            ["parent", "sibling"],
          ],
          alphabetize: { order: "asc" },
        },
      ],
      "no-unused-vars": [
        "error",
        {
          args: "after-used",
          argsIgnorePattern: "^_",
          destructuredArrayIgnorePattern: "^_",
          ignoreRestSiblings: true,
        },
      ],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
  { files: ["static/js/**"], languageOptions: { globals: globals.browser } },
  { files: ["static/js/export/gif.worker.js"], languageOptions: { globals: globals.worker } },
  { files: ["tests/**", "eslint.config.mjs"], languageOptions: { globals: globals.node } },
];
