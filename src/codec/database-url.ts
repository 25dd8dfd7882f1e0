import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { unescape as percentDecoded } from 'node:querystring'

/** True for a malformed one, too: taken for a path, it would be shown with its password. */
export function isDatabaseUrl(text: string): boolean {
  return /^\s*postgres(ql)?:\/\//i.test(text)
}

/** Returns passwords as written and decoded, so that none of them is shown. */
export function databaseSecrets(text: string | null | undefined): string[] {
  if (!text || !isDatabaseUrl(text)) return []
  const named = /[?&]password=([^&#]+)/.exec(text)?.[1]
  return [...urlPasswords(text), ...(named === undefined ? [] : [named, percentDecoded(named)])]
}

/**
 * Returns the password in a URL, with or without its scheme, as written and decoded. Without a password, the
 * user name may be a token.
 */
export function urlPasswords(text: string): string[] {
  // Up to the last @, even beyond the end of the host: a password may contain characters that should have
  // been encoded.
  const [, user = '', password] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^:@/]*)(?::(.*))?@/is.exec(text) ?? []
  const secret = password || user
  return secret === '' ? [] : [secret, percentDecoded(secret)]
}

/** The message ends a sentence about the text and contains no part of the password. */
export class PostgresUrlError extends Error {
  override readonly name = 'PostgresUrlError'
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

export interface PostgresUrl {
  /** A host name or an address; a directory, which begins with `/`, for the socket in it. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string | undefined
  /** The URL without user and password, for messages, logs and registries. */
  readonly shown: string
  readonly parameter: (name: Parameter) => string | undefined
}

/** libpq's parameters with their variables (PostgreSQL, libpq, Parameter Key Words). */
const variables = {
  host: 'PGHOST',
  port: 'PGPORT',
  dbname: 'PGDATABASE',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  passfile: 'PGPASSFILE',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  application_name: 'PGAPPNAME',
  options: 'PGOPTIONS',
} as const

type Parameter = keyof typeof variables

const schemes = ['postgres:', 'postgresql:']
const defaultPort = 5432
const placeholderHost = 'none'
const example = 'postgres://user@db.example.org:5432/academy'

/** Reads it as libpq does; an empty variable counts as unset. Throws PostgresUrlError. */
export function readPostgresUrl(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): PostgresUrl {
  const url = parse(text.trim())
  const inUrl = parametersOf(url)
  const parameter = (name: Parameter) => inUrl.get(name) || env[variables[name]] || undefined

  const named = url.username !== '' && url.hostname === placeholderHost ? '' : url.hostname
  const port = portOf(url.port || parameter('port'))
  const host = decoded(named).replace(/^\[(.+)\]$/, '$1') || parameter('host') || localHost(port)
  const user = decoded(url.username) || parameter('user') || userInfo().username
  const database = decoded(url.pathname.slice(1)) || parameter('dbname') || user
  const password = decoded(url.password) || parameter('password')
  return { host, port, database, user, password, shown: shownOf(host, port, database), parameter }
}

/** An omitted host, as in `user@/academy`, becomes `none`. */
function parse(text: string): URL {
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(text)?.[1] ?? ''
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',')) {
    throw new PostgresUrlError(
      'names several hosts: only one is supported',
      'Use the address of the primary, or of a proxy before it',
    )
  }
  const whole = authority.endsWith('@') ? text.replace(authority, `${authority}${placeholderHost}`) : text
  const url = URL.canParse(whole) ? new URL(whole) : undefined
  // An @ or : in the path, or a fragment, comes from a password with an unencoded # / or ?
  if (url && schemes.includes(url.protocol) && url.hash === '' && !/[@:]/.test(url.pathname)) return url
  throw new PostgresUrlError(
    `must be a URL such as ${example}`,
    'Percent-encode special characters in the user name and password, such as %23 for # and %2F for /',
  )
}

function parametersOf(url: URL): Map<string, string> {
  const known = Object.keys(variables)
  for (const name of url.searchParams.keys()) {
    if (known.includes(name)) continue
    const named = /^[a-z_]{1,40}$/.test(name) ? `: ${name}` : ''
    const supported = known.filter((name) => name !== 'password').join(', ')
    throw new PostgresUrlError(`has an unknown parameter${named}`, `Supported parameters: ${supported}`)
  }
  return new Map(url.searchParams)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // No cause: the error of decodeURIComponent could reveal the password.
    throw new PostgresUrlError(
      'has a % that is not followed by two hexadecimal digits',
      'Write % in a user name or password as %25',
    )
  }
}

function portOf(text: string | undefined): number {
  const port = Number(text ?? defaultPort)
  if (Number.isInteger(port) && port > 0 && port <= 65_535) return port
  throw new PostgresUrlError(`must have a port from 1 to 65535, not ${text}`)
}

/**
 * Returns where PostgreSQL listens on this machine: its socket in Debian's directory or PostgreSQL's own, or
 * localhost.
 */
function localHost(port: number): string {
  const folders = ['/var/run/postgresql', '/tmp']
  return folders.find((folder) => existsSync(`${folder}/.s.PGSQL.${port}`)) ?? 'localhost'
}

function shownOf(host: string, port: number, database: string): string {
  const name = encodeURIComponent(database)
  if (host.startsWith('/'))
    return `postgres:///${name}?host=${host}${port === defaultPort ? '' : `&port=${port}`}`
  return `postgres://${host.includes(':') ? `[${host}]` : host}:${port}/${name}`
}
