// What is asked of the front end's scripts beside their format (prettier) and their rooms
// (tests/test_rooms.py): nothing unused, nothing unknown, nothing too tangled.

import js from "@eslint/js";
import sorting from "eslint-plugin-simple-import-sort";
import globals from "globals";

export default [
  { ignores: ["build/", "static/vendor/", "tests/e2e/vendor/", ".venv/"] },
  js.configs.recommended,
  {
    plugins: { sorting },
    languageOptions: { ecmaVersion: "latest", sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      complexity: ["error", 25],
      eqeqeq: "error",
      "max-lines": ["error", 200],
      "max-lines-per-function": ["error", 70],
      "no-duplicate-imports": "error",
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
      "sorting/imports": "error",
    },
  },
  { files: ["static/js/**"], languageOptions: { globals: globals.browser } },
  {
    files: ["static/js/export/gif.worker.js", "static/js/site/worker.js"],
    languageOptions: { globals: globals.worker },
  },
  { files: ["static/js/site/sw.js"], languageOptions: { globals: globals.serviceworker } },
  {
    files: ["tests/**", "app/**", "eslint.config.mjs"],
    languageOptions: { globals: globals.node },
    rules: { "max-lines": ["error", 400] },
  },
];
