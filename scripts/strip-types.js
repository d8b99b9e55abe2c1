// Jest runs the same TypeScript as Node: types are stripped, nothing is compiled.
import { stripTypeScriptTypes } from 'node:module';

export default { process: (source) => ({ code: stripTypeScriptTypes(source) }) };
