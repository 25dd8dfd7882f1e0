import { existsSync } from 'node:fs'
import { isLoopback } from '../../client/request.ts'
import { isNetwork } from '../../codec/network-address.ts'
import type { Settings } from '../../config/resolve-settings.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag } from '../command/flag.ts'
import { databaseErrorOf } from '../session/academy-file.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'

const maxSeed = 2 ** 32 - 1

/** Flags that make runs on new academies reproducible. */
export const fixedFlags: readonly Flag[] = [
  {
    name: 'clock',
    kind: 'time',
    placeholder: 'time',
    summary: 'Time at which the clock of a new academy stands still (default the actual time)',
  },
  {
    name: 'seed-id',
    kind: 'number',
    summary: 'Number from which the ids of a new academy are made, the same in each run (default random ids)',
  },
]

export interface FixedOptions {
  /** ISO 8601, UTC. */
  readonly fixedTime: string | undefined
  readonly seedId: number | undefined
}

export function readFixedFlags({ flags }: Given): FixedOptions {
  const seedId = flags['seed-id'] === undefined ? undefined : Number(flags['seed-id'])
  if (seedId !== undefined && !(Number.isInteger(seedId) && seedId >= 0 && seedId <= maxSeed)) {
    throw new UsageError(`--seed-id must be a whole number from 0 to ${maxSeed}, not ${seedId}`)
  }
  return { fixedTime: flags['clock'] === undefined ? undefined : String(flags['clock']), seedId }
}

/**
 * Throws a CommandError if the clock or the seed is fixed for an existing academy: expired credentials would
 * become valid, and ids would repeat.
 */
export function assertNewAcademy(
  { fixedTime, seedId }: FixedOptions,
  database: string,
  isFile: boolean,
): void {
  const flag = seedId !== undefined ? '--seed-id' : fixedTime !== undefined ? '--clock' : null
  if (flag === null) return
  if (!isFile) throw new UsageError(`${flag} is not supported for a PostgreSQL database`)
  if (!existsSync(database)) return
  throw new CommandError(
    'academy_exists',
    'conflict',
    `${flag} requires a new academy: ${database} already exists`,
    {
      why: [
        flag === '--clock'
          ? 'Its expired keys and sessions would be accepted again'
          : 'Ids that it already has would be made again',
      ],
      hint: 'Choose another file with --database, or use `learnctl server exec`',
    },
  )
}

export const postgresFlags = [
  {
    name: 'database-url-file',
    kind: 'text',
    placeholder: 'path',
    file: 'read',
    summary: 'File with the URL of a PostgreSQL database, in place of --database',
  },
  {
    name: 'encryption-key-file',
    kind: 'text',
    placeholder: 'path',
    file: 'read',
    summary: 'Key that secrets are encrypted with, the same for all servers; created with the first secret',
  },
] as const satisfies readonly Flag[]

/** Undefined for a file. Throws a UsageError on any of the flags for a file. */
export function readPostgresOptions({ io }: Pick<Context, 'io'>, { flags }: Given, url: string | undefined) {
  const given = postgresFlags.find(({ name }) => flags[name] !== undefined)
  if (url === undefined) {
    if (given) throw new UsageError(`--${given.name} requires a PostgreSQL database`)
    return undefined
  }
  return { url, env: postgresEnv(io), home: io.home }
}

/** Returns the variables of libpq, the only ones that opening a connection needs. */
export function postgresEnv({ env }: Pick<Io, 'env'>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('PG')))
}

const logFormats = ['text', 'json'] as const

export const serveFlags: readonly Flag[] = [
  { name: 'port', kind: 'number', summary: 'Port to listen on, 0 for any free port (default 4700)' },
  {
    name: 'host',
    kind: 'text',
    placeholder: 'address',
    summary: 'Address to listen on (default 127.0.0.1)',
  },
  {
    name: 'allow-host',
    kind: 'words',
    placeholder: 'name,…',
    summary: 'Additional Host headers to accept (default localhost and the public URL)',
  },
  {
    name: 'public-url',
    kind: 'text',
    placeholder: 'url',
    summary: 'URL where others reach the server (default its own address)',
  },
  {
    name: 'tls-cert',
    kind: 'text',
    placeholder: 'path',
    file: 'read',
    summary: 'Certificate with its chain (PEM), to serve https; requires --tls-key',
  },
  {
    name: 'tls-key',
    kind: 'text',
    placeholder: 'path',
    file: 'read',
    summary: 'Private key of the certificate (PEM, without a passphrase)',
  },
  {
    name: 'trusted-proxy',
    kind: 'words',
    placeholder: 'address,…',
    summary: 'Proxies to trust for Forwarded and X-Forwarded-For, such as 10.0.0.0/8 (default none)',
  },
  {
    name: 'cors-origin',
    kind: 'words',
    placeholder: 'origin,…',
    summary: 'Origins whose pages may call the API (default none)',
  },
  {
    name: 'webhook-allow',
    kind: 'words',
    placeholder: 'host,…',
    summary: 'Hosts and networks to send events to though they are not public (default none)',
  },
  {
    name: 'rate-limit',
    kind: 'number',
    summary: 'Requests per minute for each user, 0 for no limit (default 600)',
  },
  {
    name: 'key-file',
    kind: 'text',
    placeholder: 'path',
    file: 'write',
    summary: 'Write an admin API key to this file (mode 0600) instead of printing it',
  },
  {
    name: 'log',
    kind: 'text',
    placeholder: 'format',
    summary: 'Log format (default text on a terminal, else json)',
    choices: logFormats,
  },
  ...postgresFlags,
  ...fixedFlags,
  { name: 'detach', kind: 'switch', summary: 'Run in the background, and return once the server is ready' },
]

/** Throws a UsageError on an invalid value, and if requests could be read in transit. */
export function readServeOptions({ flags }: Given, { insecureHttp }: Pick<Settings, 'insecureHttp'>) {
  checkChoices(serveFlags, flags)
  const port = readPort(flags['port'], 4700)
  const isClockFixed = flags['clock'] !== undefined
  // A rate limit refills as time passes.
  if (isClockFixed && flags['rate-limit'])
    throw new UsageError('--clock and --rate-limit cannot be used together')
  const perMinute = isClockFixed ? 0 : Number(flags['rate-limit'] ?? 600)
  if (!Number.isInteger(perMinute) || perMinute < 0) {
    throw new UsageError(`--rate-limit must be a whole number, 0 or more, not ${perMinute}`)
  }
  const publicUrl = flags['public-url'] === undefined ? undefined : String(flags['public-url'])
  if (publicUrl !== undefined && !isPublicUrl(publicUrl)) {
    throw new UsageError(
      `--public-url must be an http or https URL without a user name, query or fragment, not ${JSON.stringify(publicUrl)}`,
    )
  }
  const words = (name: string, meaning = '', isValid: (word: string) => boolean = () => true) => {
    const value = flags[name]
    const given = Array.isArray(value) ? value.map(String) : []
    const invalid = given.find((word) => !isValid(word))
    if (invalid === undefined) return given
    throw new UsageError(`--${name} must be ${meaning}, not ${JSON.stringify(invalid)}`)
  }
  const network = 'an IP address or a network such as 10.0.0.0/8'
  const corsOrigins = words('cors-origin', 'an origin such as https://app.example.org', isOrigin)
  const trustedProxies = words('trusted-proxy', network, isNetwork)
  const isTarget = (word: string) => isNetwork(word) || /^[\w.-]+$/.test(word)
  const webhookAllow = words('webhook-allow', `a host name, ${network}`, isTarget)
  const host = String(flags['host'] ?? '127.0.0.1')
  const isTls = flags['tls-cert'] !== undefined || publicUrl?.startsWith('https:') === true
  if (!isTls && !isLoopbackHost(host) && !insecureHttp.value) throw unencrypted(host)
  return {
    host,
    port,
    allowHosts: words('allow-host'),
    publicUrl,
    corsOrigins,
    perMinute,
    trustedProxies,
    webhookAllow,
  }
}

export function readPort(given: unknown, usual: number): number {
  const port = Number(given ?? usual)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError(`--port must be a whole number from 0 to 65535, not ${port}`)
}

export function listenError(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const { code, syscall } = error as { code?: string; syscall?: string }
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return databaseErrorOf(error)
  if (code === 'EADDRINUSE') {
    return new CommandError('port_in_use', 'failure', `Port ${port} on ${host} is already in use`, {
      cause: error,
      hint: 'Use --port to choose another (0 for any free port); `learnctl server status` lists running servers',
    })
  }
  return new CommandError('cannot_listen', 'failure', `Cannot listen on ${host}, port ${port}: ${code}`, {
    cause: error,
  })
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

/** A base of links and the issuer (RFC 8414 §2); a password in it would appear in all of them. */
function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === '' && !/[?#]/.test(text)
}

function isLoopbackHost(host: string): boolean {
  const url = `http://${host.includes(':') ? `[${host}]` : host}`
  return URL.canParse(url) && isLoopback(url)
}

function unencrypted(host: string): UsageError {
  return new UsageError(`Refusing to serve on ${host} over unencrypted http`, {
    code: 'insecure_http',
    why: ['Others on the network could read passwords and API keys'],
    hint: 'Use --tls-cert and --tls-key, or --public-url https://… behind a proxy, or --insecure-http to allow it',
  })
}
