import { z } from 'zod';
import { Time } from '../fields.ts';

export const SessionToken = z.object({ token: z.string(), expires_at: Time }).meta({
  id: 'SessionToken',
  examples: [{ token: 'eyJhbGciOiJFZERTQSJ9.e30.c2ln', expires_at: '2026-10-01T18:15:00Z' }],
});

export const SignInMethods = z.object({ openid: z.object({ name: z.string(), url: z.url() }).nullable() }).meta({
  id: 'SignInMethods',
  examples: [{ openid: { name: 'login.example.com', url: 'https://calls.example.com/api/v1/session/openid' } }],
});
