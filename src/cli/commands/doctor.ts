import { statSync } from 'node:fs'
import { isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { escapeHidden, shellWord } from '../../codec/display-text.ts'
import { remainingMs } from '../../config/profiles.ts'
import type { Target } from '../../config/target.ts'
import { type Command, notAList } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { credentialLines, failureOf } from '../failures.ts'
import { listServers } from '../local-server/running-servers.ts'
import { databaseMissing } from '../session/academy-file.ts'
import { clockWarning, secondsAhead } from '../session/clock.ts'
import type { KeptPlatform } from '../session/platform-file.ts'
import { signInCommand } from '../session/sign-in-command.ts'
import { CommandError } from '../terminal/errors.ts'
import { createPainterFor, twoColumns } from '../terminal/format-text.ts'

interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly detail: string
  readonly fault?: unknown
}

const fields = ['check', 'status', 'detail']
const shape = { table: fields, paths: fields }

export const command: Command = {
  name: 'doctor',
  summary: 'Check your setup for problems',
  writes: [],
  prints: ['Finding[]'],
  description:
    'Checks files, profile, connection, database, encryption key, credential and clock. The exit code is 1 if a check fails; warnings alone exit with 0.',
  refuses: { ...notAList, dryRun: 'The checks send requests' },
  examples: ['doctor', 'doctor --profile work -o json'],
  async run(context) {
    context.output.check(shape)
    const findings = await examine(context)
    await show(context, findings)
    const missing = findings.find(({ fault }) => isMissing(fault))?.fault
    if (missing) throw missing
    const failed = findings.filter(({ status }) => status === 'failed')
    if (failed.length > 0) {
      throw new CommandError('unhealthy', 'failure', `${failed.length} of ${findings.length} checks failed`, {
        why: failed.map(({ check, detail }) => `${check}: ${detail}`),
      })
    }
  },
}

/** Prints full lines on a terminal, so that no warning is cut off. */
async function show({ io, settings, output }: Context, findings: readonly Finding[]): Promise<void> {
  const { columns } = settings
  if (settings.output.value !== 'table' || !io.stdout.isTTY || columns.value) {
    return output.list([findings], shape)
  }
  const rows = findings.map(
    ({ check, status, detail }) => [`${status.padEnd(7)}  ${check}`, escapeHidden(detail)] as const,
  )
  const chalk = await createPainterFor(io.stdout, io, settings)
  const paint = { ok: chalk.green, warning: chalk.yellow, failed: chalk.red }
  const text = twoColumns(rows, io.stdout.columns ?? 80)
  await output.text(
    text.replace(
      /^ {2}(ok|warning|failed)\b/gm,
      (_, status: Finding['status']) => `  ${paint[status](status)}`,
    ),
  )
}

async function examine(context: Context): Promise<Finding[]> {
  const { io, profiles, directories, session } = context
  const findings: Finding[] = [
    { check: 'Runtime', status: 'ok', detail: `Node ${process.version}, ${io.platform}` },
    ...findUnpacked(),
    ...checkFiles(profiles.path, directories.config),
    ...(await checkProxies(io.env)),
    ...(await listRunning(directories.state)),
  ]
  let target: Target
  try {
    target = session.target()
  } catch (error) {
    return [...findings, failedFinding('Platform', error, null)]
  }
  const place = target.kind === 'local' ? target.database : target.url
  findings.push({
    check: target.kind === 'local' ? 'Academy' : 'Platform',
    status: 'ok',
    detail: `${place} (from ${target.origin.name})`,
  })
  try {
    const file = await session.platform()
    if (file) findings.push({ check: 'Platform file', status: 'ok', detail: platformDetail(file) })
  } catch (error) {
    return [...findings, failedFinding('Platform file', error, null)]
  }
  return [
    ...findings,
    ...(target.kind === 'local' ? await checkLocalAcademy(context) : await checkPlatform(context, target)),
  ]
}

function platformDetail({ name, digest, file: { operations = {} } }: KeptPlatform): string {
  const missing = Object.entries(operations).flatMap(([id, each]) => (each === 'not offered' ? [id] : []))
  const shown = `${name} (${digest.slice(0, 12)})`
  return missing.length === 0 ? shown : `${shown}; not offered: ${missing.join(', ')}`
}

function findUnpacked(): Finding[] {
  if (!isSea()) return []
  const folder = fileURLToPath(new URL('../..', import.meta.url))
  return [{ check: 'Executable', status: 'ok', detail: `${process.execPath}, unpacked to ${folder}` }]
}

/** Other users must not be able to read files that may contain a credential. */
function checkFiles(...paths: readonly string[]): Finding[] {
  return paths.flatMap((path): Finding[] => {
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) return [{ check: 'Configuration', status: 'ok', detail: `${path} does not exist yet` }]
    const mode = (found.mode & 0o777).toString(8).padStart(4, '0')
    if (process.platform === 'win32' || (found.mode & 0o077) === 0) {
      return [{ check: 'Configuration', status: 'ok', detail: `${path} (${mode})` }]
    }
    const wanted = found.isDirectory() ? '700' : '600'
    return [
      {
        check: 'Configuration',
        status: 'warning',
        detail: `${path} is readable by others (${mode}); run: chmod ${wanted} ${shellWord(path)}`,
      },
    ]
  })
}

/** Lists the proxies that are set; whether one is used depends on the URL. */
async function checkProxies(env: Context['io']['env']): Promise<Finding[]> {
  const { listProxies } = await import('../../codec/proxy.ts')
  return listProxies(env).map((proxy): Finding => {
    const check = 'Proxy'
    if (proxy instanceof Error) return { check, status: 'failed', detail: proxy.message }
    const { url, variable, authorization } = proxy
    const credentials = authorization === undefined ? '' : ', with credentials'
    return { check, status: 'ok', detail: `${url} (from ${variable}${credentials})` }
  })
}

async function listRunning(state: string): Promise<Finding[]> {
  const running = await listServers(state)
  return running.map(({ url, database }) => ({
    check: 'Server',
    status: 'ok',
    detail: `${url} serves ${database}`,
  }))
}

async function checkLocalAcademy({ session }: Context): Promise<Finding[]> {
  try {
    const academy = await session.open()
    const faults = await academy.check()
    if (faults.length > 0) return faults.map((detail) => ({ check: 'Database', status: 'failed', detail }))
    return [
      { check: 'Database', status: 'ok', detail: 'integrity check passed' },
      await checkEncryption(academy),
    ]
  } catch (error) {
    return [failedFinding('Database', error, null)]
  }
}

async function checkEncryption(academy: Awaited<ReturnType<Context['session']['open']>>): Promise<Finding> {
  const check = 'Encryption'
  const trouble = await academy.encryptionTrouble()
  if (trouble === undefined) return { check, status: 'ok', detail: 'everything encrypted can be read' }
  const lost = 'if it is lost, run: learnctl server new-encryption-key'
  return { check, status: 'failed', detail: `${trouble.replace(/\.$/, '')}; ${lost}` }
}

async function checkPlatform(context: Context, target: Target): Promise<Finding[]> {
  const { io, session } = context
  const { users } = (await import('../../contract/calls.ts')).calls
  try {
    const caller = await session.caller()
    const startedMs = io.now()
    const { data: user, date } = await caller.call(users.profile, { signal: io.signal })
    const nowMs = io.now()
    const { email, id, role, scopes } = (user ?? {}) as Record<string, unknown>
    const rights = Array.isArray(scopes) ? `, scopes: ${scopes.join(' ')}` : ''
    return [
      { check: 'Connection', status: 'ok', detail: `responded in ${nowMs - startedMs} ms` },
      {
        check: 'Credential',
        status: 'ok',
        detail: `${email ?? id ?? 'unknown user'} (${role ?? 'unknown role'})${rights}`,
      },
      ...checkSession(session.target(), nowMs),
      ...checkClock(date, nowMs),
    ]
  } catch (error) {
    io.signal.throwIfAborted()
    const lines = credentialLines(target)
    const finding = failedFinding('Connection', error, target)
    return [{ ...finding, detail: [finding.detail, ...lines].join('; ') }]
  }
}

function checkSession(target: Target, nowMs: number): Finding[] {
  const tokens = target.kind === 'remote' ? target.credential?.kept?.tokens : null
  if (!tokens) return []
  const { expiresAt, refreshToken } = tokens
  const end =
    expiresAt === null
      ? 'has no known expiry'
      : `expires at ${expiresAt} (in ${Math.max(0, Math.round(remainingMs(tokens, nowMs) / 60_000))} min)`
  if (refreshToken !== null) {
    return [{ check: 'Session', status: 'ok', detail: `Access token ${end}; it is refreshed automatically` }]
  }
  const again = signInCommand(target)
  const detail = `Access token ${end}; it cannot be refreshed; sign in again then: ${again}`
  return [{ check: 'Session', status: 'warning', detail }]
}

function checkClock(date: string | null, nowMs: number): Finding[] {
  const seconds = secondsAhead(date, nowMs)
  if (seconds === null) return []
  const warning = clockWarning(seconds)
  if (warning !== null) return [{ check: 'Clock', status: 'warning', detail: warning }]
  const detail = `within ${Math.max(1, Math.abs(seconds))} s of the server`
  return [{ check: 'Clock', status: 'ok', detail }]
}

function failedFinding(check: string, error: unknown, target: Target | null): Finding {
  const { message, hint } = failureOf(error, target)
  return { check, status: 'failed', detail: hint ? `${message} (${hint})` : message, fault: error }
}

/** A missing academy has its own exit code, as in every command. */
function isMissing(fault: unknown): boolean {
  return fault instanceof CommandError && fault.code === databaseMissing
}
