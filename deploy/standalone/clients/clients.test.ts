import { afterAll, beforeAll, describe } from '@jest/globals';
import { startServiceHere } from '../test/system/service-here.ts';
import type { RunningService } from '../test/system/service-process.ts';
import { describeCli } from './test/cli.ts';
import { describeClient } from './test/client.ts';
import { describeMcp } from './test/mcp.ts';

// One service for all of them. Each suite has its own firms.
let service: RunningService;
beforeAll(async () => {
  service = await startServiceHere();
});
afterAll(() => service?.stop());

const running = () => service;

describe('the client library', () => describeClient(running));
describe('the command line', () => describeCli(running));
describe('the MCP server', () => describeMcp(running));
