// Jest runs the same TypeScript that Node runs: types are blanked out, nothing is compiled.
import { stripTypeScriptTypes } from 'node:module';

export default { process: (source) => ({ code: stripTypeScriptTypes(source) }) };
