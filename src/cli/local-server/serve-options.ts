import { isLoopback } from '../../client/base-url.ts'
import { isNetwork } from '../../codec/network-address.ts'
import type { Settings } from '../../config/resolve-settings.ts'
import type { Given } from '../command/command.ts'
import { checkChoices, type Flag } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'
import { fixedFlags } from './fixed-flags.ts'
import { postgresFlags } from './postgres-options.ts'

/** Formats of the log. */
const logFormats = ['text', 'json'] as const

/** The flags of `server start`. */
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
    summary: 'Certificate with its chain (PEM), to serve https; requires --tls-key',
  },
  {
    name: 'tls-key',
    kind: 'text',
    placeholder: 'path',
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

/**
 * Reads the flags of `server start`. Throws a UsageError on an invalid value, and if requests could be read
 * in transit.
 */
export function serveOptions({ flags }: Given, { insecureHttp }: Pick<Settings, 'insecureHttp'>) {
  checkChoices(serveFlags, flags)
  const port = Number(flags['port'] ?? 4700)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UsageError(`--port must be a whole number from 0 to 65535, not ${port}`)
  }
  const standsStill = flags['clock'] !== undefined
  // A rate limit refills as time passes.
  if (standsStill && flags['rate-limit'])
    throw new UsageError('--clock and --rate-limit cannot be used together')
  const perMinute = standsStill ? 0 : Number(flags['rate-limit'] ?? 600)
  if (!Number.isInteger(perMinute) || perMinute < 0) {
    throw new UsageError(`--rate-limit must be a whole number, 0 or more, not ${perMinute}`)
  }
  const publicUrl = flags['public-url'] === undefined ? undefined : String(flags['public-url'])
  if (publicUrl !== undefined && !isPublicUrl(publicUrl)) {
    throw new UsageError(
      `--public-url must be an http or https URL without a user name, query or fragment, not ${JSON.stringify(publicUrl)}`,
    )
  }
  const corsOrigins = words(flags['cors-origin'])
  const odd = corsOrigins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin)
  if (odd !== undefined) {
    throw new UsageError(
      `--cors-origin must be an origin such as https://app.example.org, not ${JSON.stringify(odd)}`,
    )
  }
  const trustedProxies = words(flags['trusted-proxy'])
  const none = trustedProxies.find((proxy) => !isNetwork(proxy))
  if (none !== undefined) {
    throw new UsageError(
      `--trusted-proxy must be an IP address or a network such as 10.0.0.0/8, not ${JSON.stringify(none)}`,
    )
  }
  const webhookAllow = words(flags['webhook-allow'])
  const noTarget = webhookAllow.find((target) => !isNetwork(target) && !/^[\w.-]+$/.test(target))
  if (noTarget !== undefined) {
    throw new UsageError(
      `--webhook-allow must be a host name, an IP address or a network such as 10.0.0.0/8, not ${JSON.stringify(noTarget)}`,
    )
  }
  const host = String(flags['host'] ?? '127.0.0.1')
  const isTls = flags['tls-cert'] !== undefined || publicUrl?.startsWith('https:') === true
  if (!isTls && !isLoopbackHost(host) && !insecureHttp.value) throw unencrypted(host)
  return {
    host,
    port,
    allowHosts: words(flags['allow-host']),
    publicUrl,
    corsOrigins,
    perMinute,
    trustedProxies,
    webhookAllow,
  }
}

function words(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/**
 * True for a valid base of links and the issuer (RFC 8414 §2); a password in it would appear in all of them.
 */
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
