import { z } from 'zod';

/** The secret that API keys are hashed with. */
export const PepperVariables = z.object({
  API_KEY_PEPPER: z
    .string()
    .refine((pepper) => Buffer.byteLength(pepper) >= 32, 'must have at least 32 bytes')
    .meta({
      description: 'The secret for hashing API keys, 32 bytes or more. Keys made under another secret are unknown.',
    }),
  API_KEY_PEPPER_PREVIOUS: z
    .string()
    .refine((pepper) => Buffer.byteLength(pepper) >= 32, 'must have at least 32 bytes')
    .optional()
    .meta({
      description:
        'During a change of API_KEY_PEPPER: the previous secret. Its keys are accepted, and rehashed under the new secret when they are used.',
      secret: true,
    }),
});
