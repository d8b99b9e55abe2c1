/** The URLs of messages by page and language: build/texts-plugin.ts. */
declare module '*?texts' {
  const urls: Readonly<Record<string, Record<string, string>>>;
  export default urls;
}
