import { writeFileSync } from 'node:fs';
import { Readiness } from '@call-analysis/runtime';
import { endpointsOf } from './gateway.ts';
const endpoints = endpointsOf({}, { objects: {} } as never, new Readiness([]));
const docs = endpoints.find((e) => e.path === '/openapi.json')!;
const answer = await docs.handle({} as never);
writeFileSync(process.argv[2]!, JSON.stringify(answer!.body, null, 1));
