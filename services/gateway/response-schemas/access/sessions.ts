import { z } from 'zod';
import { Time } from '../fields.ts';

export const SessionToken = z.object({ token: z.string(), expires_at: Time }).meta({
  id: 'SessionToken',
  examples: [{ token: 'eyJhbGciOiJFZERTQSJ9.e30.c2ln', expires_at: '2026-10-01T18:15:00Z' }],
});
