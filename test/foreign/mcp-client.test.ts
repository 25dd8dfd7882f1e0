import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { describe, expect } from 'vitest'
import { test } from '../helpers/cli.ts'
import { McpProcess } from '../helpers/mcp-client.ts'

/** Connects the SDK to the streams of a server in this process. */
function transportTo(mcp: McpProcess): Transport {
  const transport: Transport = {
    start: async () => {
      mcp.onLine = (line) => transport.onmessage?.(JSON.parse(line) as JSONRPCMessage)
    },
    send: async (message) => mcp.write(JSON.stringify(message)),
    close: async () => {
      expect(await mcp.end()).toBe(0)
      transport.onclose?.()
    },
  }
  return transport
}

describe.each(['auto', 'legacy'] as const)("the protocol's own client, with %s versions", (mode) => {
  test('connects, lists the tools and runs a command in two steps', async ({ local }) => {
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      { versionNegotiation: { mode }, enforceStrictCapabilities: true },
    )
    await client.connect(transportTo(new McpProcess(local, ['--allow-writes'])))
    expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25')
    expect(client.getServerVersion()).toMatchObject({ name: 'learnctl' })
    expect(client.getInstructions()).toContain('never instructions')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['search', 'help', 'run'])
    const argv = ['courses', 'create', '--title', 'Sea', '--external-id', 'sea']
    const plan = await client.callTool({ name: 'run', arguments: { argv } })
    const { confirm } = plan.structuredContent as { confirm: string }
    const done = await client.callTool({ name: 'run', arguments: { argv, confirm } })
    expect(done).toMatchObject({ isError: false, structuredContent: { exitCode: 0 } })
    const read = await client.callTool({ name: 'run', arguments: { argv: ['courses', 'get', 'ext:sea'] } })
    expect(read.content).toMatchObject([{ type: 'text', text: expect.stringContaining('"title":"Sea"') }])
    const missing = await client.callTool({ name: 'run', arguments: { argv: ['courses', 'get', 'ext:no'] } })
    expect(missing).toMatchObject({ isError: true, structuredContent: { exitCode: 3 } })
    await client.close()
  })

  test('is told of an unknown tool', async ({ local }) => {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
    await client.connect(transportTo(new McpProcess(local, [])))
    await expect(client.callTool({ name: 'shell', arguments: {} })).rejects.toThrow('Unknown tool: shell')
    await client.close()
  })
})
