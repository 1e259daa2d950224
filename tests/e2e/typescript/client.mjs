// A client of one of the SDKs: node client.mjs SDK (ADDRESS | COMMAND ARGUMENTS...). Prints how many tools there are,
// and what echo says.
const [sdk, ...target] = process.argv.slice(2);
const client = "@modelcontextprotocol/client";
const from = (name, place) => import(sdk === "2" ? `${client}${place}` : `@modelcontextprotocol/sdk/client/${name}.js`);
const { Client } = await from("index", "");
const overHttp = target[0].startsWith("http://");
const { StdioClientTransport } = overHttp ? {} : await from("stdio", "/stdio");
const { StreamableHTTPClientTransport } = overHttp ? await from("streamableHttp", "") : {};
const transport = overHttp
  ? new StreamableHTTPClientTransport(new URL(target[0]))
  : new StdioClientTransport({ command: target[0], args: target.slice(1), env: process.env });
const one = new Client({ name: `typescript-${sdk}`, version: "1" }, { versionNegotiation: { mode: "auto" } });
await one.connect(transport);
const { tools } = await one.listTools();
const { content } = await one.callTool({ name: "echo", arguments: { message: "tide" } });
console.log(JSON.stringify({ tools: tools.length, said: content[0].text }));
await one.close();
