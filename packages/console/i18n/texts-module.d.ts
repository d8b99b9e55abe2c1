/** The URLs of a page's messages by language: build/texts-plugin.ts. */
declare module '*?texts' {
  const urls: Readonly<Record<string, string>>;
  export default urls;
}
