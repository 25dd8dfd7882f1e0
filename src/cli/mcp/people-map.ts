import { createHash, randomBytes } from 'node:crypto'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { systemCode } from '../../config/errors.ts'
import { makeDirectory } from '../../config/files.ts'
import { Pseudonyms } from '../pseudonyms/pseudonyms.ts'
import { CommandError } from '../terminal/errors.ts'

/** Letters of a pseudonym: with 60 bits, two of 200,000 are equal with a probability of 2 in 10^8. */
const nameLength = 12
/** Domain of the pseudonyms of addresses, which no mail reaches (RFC 2606 §2). */
const mailDomain = 'pseudonym.invalid'

/** Prefixes of pseudonyms by kind of id; `record` for other records about people. */
const prefixes: Readonly<Record<string, string>> = {
  user: 'person',
  'user external id': 'external',
  'e-mail address': 'mail',
}

/**
 * The pseudonyms of one platform: HMACs of ids (see Pseudonyms) with a key and a map back, in a file that only the user can
 * read. They stay the same as long as the file does.
 */
export class PeopleMap {
  readonly #path: string
  readonly #originals = new Map<string, string>()
  readonly #pending: string[] = []
  #pseudonyms: Pseudonyms | null = null

  /** @param platform its name, or that of the database */
  constructor(stateDirectory: string, platform: string) {
    const name = createHash('sha256').update(platform).digest('hex').slice(0, 16)
    this.#path = join(stateDirectory, 'pseudonyms', `${name}.jsonl`)
  }

  /** Returns the pseudonym of an id or an address. */
  of(kind: string, original: string): string {
    const prefix = prefixes[kind] ?? 'record'
    const isMail = prefix === 'mail'
    const digest = this.open().of(kind, isMail ? original.toLowerCase() : original)
    const made = `${prefix}_${digest.slice(0, nameLength)}${isMail ? `@${mailDomain}` : ''}`
    if (!this.#originals.has(made)) {
      this.#originals.set(made, original)
      this.#pending.push(JSON.stringify([made, original]))
    }
    return made
  }

  /**
   * Replaces the pseudonyms in an argument. Throws a CommandError for an unknown one, and for an id that would mean
   * something else as an argument.
   */
  translate(argument: string, onFound: (original: string, pseudonym: string) => void): string {
    return argument.replaceAll(pseudonymPattern, (pseudonym) => {
      const original = this.#originalOf(pseudonym)
      if (original === undefined) {
        throw new CommandError('unknown_pseudonym', 'usage', `Unknown pseudonym: ${pseudonym}`, {
          why: ['Pseudonyms are known after they were in a result'],
          hint: 'Find the record again, for example with: users list',
        })
      }
      const isWhole = argument === pseudonym
      if (/[",\\\p{Cc}]/u.test(original) || (isWhole && /^[-@]/.test(original))) {
        throw new CommandError('unusable_pseudonym', 'usage', `${pseudonym} cannot be used in an argument`, {
          why: ['Its id has characters with a meaning of their own'],
        })
      }
      onFound(original, pseudonym)
      return original
    })
  }

  save(): void {
    if (this.#pending.length === 0) return
    // Begins a line: a process that was killed may have left an incomplete one.
    appendFileSync(this.#path, `\n${this.#pending.join('\n')}\n`, { mode: 0o600 })
    this.#pending.length = 0
  }

  #originalOf(pseudonym: string): string | undefined {
    this.open()
    const known = this.#originals.get(pseudonym)
    if (known !== undefined) return known
    // Another process may have added it.
    this.#load()
    return this.#originals.get(pseudonym)
  }

  /** Reads the file, or creates it. */
  open(): Pseudonyms {
    if (this.#pseudonyms) return this.#pseudonyms
    makeDirectory(join(this.#path, '..'), 'XDG_STATE_HOME')
    const key = randomBytes(32).toString('base64url')
    try {
      writeFileSync(this.#path, `${JSON.stringify({ key })}\n`, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
    this.#pseudonyms = new Pseudonyms(Buffer.from(this.#load(), 'base64url'))
    return this.#pseudonyms
  }

  /** Reads the file and returns its key. Incomplete lines are those that another process writes. */
  #load(): string {
    const [first = '', ...lines] = readFileSync(this.#path, 'utf8').split('\n')
    const header = parseJsonOrNull(first)
    const key = isJsonObject(header) ? header['key'] : undefined
    if (typeof key !== 'string' || key.length < 40) {
      throw new CommandError('pseudonyms_damaged', 'failure', `${this.#path} is damaged`, {
        why: ['It has no key of pseudonyms'],
        hint: 'Delete it; all pseudonyms are new then',
      })
    }
    for (const line of lines) {
      const entry = line === '' ? null : parseJsonOrNull(line)
      if (Array.isArray(entry)) this.#originals.set(String(entry[0]), String(entry[1]))
    }
    return key
  }
}

export function hasPseudonym(text: string): boolean {
  return text.search(pseudonymPattern) >= 0
}

const pseudonymPattern = new RegExp(
  `\\b(?:(?:person|external|record)_[a-z2-7]{${nameLength}}\\b|mail_[a-z2-7]{${nameLength}}@${mailDomain.replace('.', '\\.')})`,
  'g',
)
