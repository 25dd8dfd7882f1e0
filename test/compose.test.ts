import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { test } from './helpers/cli.ts'
import { root } from './helpers/process.ts'

// Tests of the Compose files and nginx.conf against the program and each other; image.process.test.ts runs the image.

interface Service {
  readonly image: string
  readonly command?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly networks?: { readonly academy?: { readonly ipv4_address: string } }
  readonly build?: { readonly context: string; readonly dockerfile: string }
}

function servicesOf(yaml: string): [string, Service][] {
  const { services } = parse(yaml, { merge: true }) as { services: Record<string, Service> }
  return Object.entries(services)
}

const textOf = (file: string) => readFileSync(join(root, file), 'utf8')
const [single = ''] =
  /(?<=^```yaml\n)# compose\.yaml\n[\s\S]*?(?=^```$)/m.exec(textOf('docs/serving.md')) ?? []
const dockerfile = textOf('packaging/Dockerfile')
const nginx = textOf('packaging/nginx.conf')
const servers = servicesOf(textOf('packaging/compose.yaml')).filter(([, { image }]) => image === 'learnctl')

test.for([...servers, ...servicesOf(single)])(
  'the program takes the flags of %s',
  async ([, service], { cli }) => {
    const env = { LEARNCTL_DATABASE: join(cli.cwd, 'academy.db'), ...service.environment }
    const { code, stderr } = await cli.run(`${service.command} --dry-run`, { env })
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^note: Would serve .* on 0\.0\.0\.0, port 4700\n$/),
    ])
  },
)

test('nginx passes requests to all servers, and they trust it', () => {
  const upstream = [...nginx.matchAll(/^ +server (\S+):(\d+) /gm)].map(([, name, port]) => [name, port])
  const [, port] = /^EXPOSE (\d+)$/m.exec(dockerfile) ?? []
  expect(upstream).toEqual(servers.map(([name]) => [name, port]))
  const balancer = servicesOf(textOf('packaging/compose.yaml')).find(([name]) => name === 'balancer')?.[1]
  const [, name] = /server_name (.*);/.exec(nginx) ?? []
  for (const [, { command }] of servers) {
    expect(command).toContain(`--trusted-proxy ${balancer?.networks?.academy?.ipv4_address} `)
    expect(command).toContain(`--public-url https://${name} `)
  }
})

test('Compose builds the image of the Dockerfile, whose own flags the program takes', async ({ cli }) => {
  for (const [, { build }] of servers)
    expect(textOf(join('packaging', build?.context ?? '', build?.dockerfile ?? ''))).toBe(dockerfile)
  const words: string[] = JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '')
  expect(await cli.run([...words, '--dry-run'])).toMatchObject({ code: 0 })
})
