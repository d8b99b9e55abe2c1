/** The segment types that a firm needs for everything under `samples/`. */
export const sampleSegmentTypes = ['support', 'sales', 'billing', 'delivery'];

/** The next steps, printed once the service runs. The firm created here accepts the samples. */
export const startHint = `Next, in another terminal:
  npm run -s admin -- firm create --name 'Acme' --country UZ ${sampleSegmentTypes.map((name) => `--segment-type ${name}`).join(' ')}
  npm run -s admin -- user create --firm <uuid of the firm> --name 'Ann' --role ADMIN
  npm run -s admin -- token issue --user <uuid of the user>
  npm run -s admin -- console link --user <uuid of the user>`;
