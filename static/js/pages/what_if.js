// The page "What if a broker dies now?".

import { watchCut } from "../core/cut_columns.js";

watchCut(document);
