import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { readRegularFile, UnreadableFileError } from '../../config/files.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'

const maxBytes = 1024 * 1024
const reasons: Readonly<Record<string, string>> = { ENOENT: 'not found', EACCES: 'permission denied' }

/** Undefined without flags. Throws a UsageError if a file is missing or unusable, the pair does not match, or not valid now. */
export function tlsFiles(
  { io }: Pick<Context, 'io'>,
  { flags }: Given,
): { cert: string; key: string } | undefined {
  const [certName, keyName] = [flags['tls-cert'], flags['tls-key']]
  if (certName === undefined && keyName === undefined) return undefined
  if (certName === undefined) throw new UsageError('--tls-key requires --tls-cert')
  if (keyName === undefined) throw new UsageError('--tls-cert requires --tls-key')
  const cert = textOf(io.cwd, '--tls-cert', String(certName))
  const key = textOf(io.cwd, '--tls-key', String(keyName))
  const certificate = certificateIn(cert, String(certName))
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]
  const now = io.now()
  if (now > to) throw new UsageError(`--tls-cert ${certName} expired on ${dayOf(to)}`)
  if (now < from) throw new UsageError(`--tls-cert ${certName} is not valid before ${dayOf(from)}`)
  if (!certificate.checkPrivateKey(keyIn(key, String(keyName)))) {
    throw new UsageError(`--tls-key ${keyName} does not belong to the certificate ${certName}`)
  }
  requireUsable(cert, key, String(certName))
  return { cert, key }
}

/** Checks that TLS accepts the pair: a key may be too short, or the chain invalid. */
function requireUsable(cert: string, key: string, name: string): void {
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    throw new UsageError(`Cannot use --tls-cert ${name}: ${(cause as Error).message.split('::').at(-1)}`, {
      cause,
    })
  }
}

function textOf(cwd: string, flag: string, name: string): string {
  try {
    return readRegularFile(resolve(cwd, name), maxBytes)
  } catch (cause) {
    if (!(cause instanceof UnreadableFileError)) throw cause
    throw new UsageError(`Cannot read ${flag} ${name}: ${reasons[cause.code ?? ''] ?? cause.message}`, {
      cause,
    })
  }
}

function certificateIn(text: string, name: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch (cause) {
    throw new UsageError(`--tls-cert ${name} is not a certificate in PEM format`, { cause })
  }
}

function keyIn(text: string, name: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (cause) {
    // The first or second line of a key says so (RFC 7468 §11, RFC 1421 §4.6.1.1).
    const why = text.includes('ENCRYPTED')
      ? 'is protected by a passphrase, which is not supported'
      : 'is not a private key in PEM format'
    throw new UsageError(`--tls-key ${name} ${why}`, { cause })
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
