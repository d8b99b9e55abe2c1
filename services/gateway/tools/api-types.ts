// Writes the types of the API, made from its OpenAPI document, to the file that is named. No service runs.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readiness } from '@call-analysis/runtime';
import openapiTS, { astToString } from 'openapi-typescript';
import { type Backends, endpointsOf } from '../gateway.ts';
import { openApiDocument } from '../openapi/document.ts';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('Name the file to write.');
const document = openApiDocument(endpointsOf({}, {} as Backends, new Readiness([])));
const types = astToString(await openapiTS(JSON.stringify(document)));
await mkdir(dirname(file), { recursive: true });
// An unchanged file keeps its time, so that nothing is compiled again.
if ((await readFile(file, 'utf8').catch(() => '')) !== types) await writeFile(file, types);
