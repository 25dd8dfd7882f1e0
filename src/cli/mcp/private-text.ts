import { createHash, randomBytes } from 'node:crypto'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unescape as percentDecoded } from 'node:querystring'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { systemCode } from '../../config/errors.ts'
import { makeDirectory } from '../../config/files.ts'
import { Pseudonyms } from '../pseudonyms/pseudonyms.ts'
import { CommandError } from '../terminal/errors.ts'

/** Shorter ids are parts of other words. */
const minLength = 2

/** Hides people in the platform's responses and the arguments, all e-mail addresses, and values in quotes. */
export class PrivateText {
  readonly #people: PeopleMap
  readonly #replacements = new Map<string, string>()
  readonly #given = new Map<string, string>()
  #sorted: readonly Identity[] | null = null

  constructor(people: PeopleMap) {
    this.#people = people
  }

  add(text: string, replacement: string): void {
    if (text.length < minLength || this.#replacements.has(text)) return
    this.#replacements.set(text, replacement)
    this.#sorted = null
  }

  hideGiven(text: string): void {
    if (text.length >= minLength) this.#given.set(text, hiddenValue)
  }

  learn(reply: string): void {
    if (!personal.test(reply)) return
    this.#learnFrom(parseJsonOrNull(reply))
  }

  #learnFrom(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.#learnFrom(each)
    if (!isJsonObject(value)) return
    const profile = isJsonObject(value['profile']) ? value['profile'] : value
    const names = ['displayName', 'firstName', 'lastName'].flatMap((field) => textIn(profile[field]))
    const [first, last] = [profile['firstName'], profile['lastName']]
    if (typeof first === 'string' && typeof last === 'string') this.add(`${first} ${last}`, hiddenName)
    for (const name of names) this.add(name, hiddenName)
    const isUser = textIn(value['email']).length > 0 || value['profile'] !== undefined
    const idFields = {
      'user external id': ['userExternalId', 'learnerExternalId', ...(isUser ? ['externalId'] : [])],
      user: ['userId', 'learnerId', ...(isUser ? ['id'] : [])],
    }
    for (const [kind, fields] of Object.entries(idFields)) {
      for (const id of fields.flatMap((field) => textIn(value[field])))
        this.add(id, this.#people.of(kind, id))
    }
    for (const each of Object.values(value)) this.#learnFrom(each)
  }

  clean(message: string): string {
    const text = message.slice(0, maxMessage)
    return this.#replaceAll(replaceKnown(text, sortedIdentities(this.#given)))
      .replaceAll(personReference, (_, noun: string, id: string) => `${noun} ext:${this.#personOf(id)}`)
      .replaceAll(/"([^"]*)"/g, (quoted, value: string) => (isPlain(value) ? quoted : '"…"'))
  }

  /** Identities of the command line stay: a file may name further people. */
  cleanUrl(url: string, typed: ReadonlySet<string>): string {
    const named = url.replaceAll(personInPath, (_, before: string, prefix = '', id = '') => {
      const person = percentDecoded(id)
      const isTyped = typed.has(person) || typed.has(`${prefix}${person}`)
      return before + prefix + (isTyped || this.#replacements.has(person) ? id : this.#personOf(person))
    })
    return this.#replaceAll(percentDecoded(named))
  }

  #personOf(id: string): string {
    if (isPlain(id) || id === hiddenValue) return id
    const kind = id.includes('@') ? 'e-mail address' : id.startsWith('usr_') ? 'user' : 'user external id'
    return this.#people.of(kind, id)
  }

  #replaceAll(message: string): string {
    this.#sorted ??= sortedIdentities(this.#replacements)
    return replaceKnown(message, this.#sorted)
      .replaceAll(/\b(usr|enr|grd|mem)_[0-9a-z]{20,40}\b/g, (id, prefix: keyof typeof kindByPrefix) =>
        this.#people.of(kindByPrefix[prefix], id),
      )
      .replaceAll(mailAddress, (address) =>
        address.endsWith('@pseudonym.invalid')
          ? address
          : this.#people.of('e-mail address', address.replace('%40', '@')),
      )
  }
}

interface Identity {
  readonly text: string
  readonly encoded: string
  readonly replacement: string
}

/** Returns the longer ones first: a name contains its parts. */
function sortedIdentities(replacements: ReadonlyMap<string, string>): Identity[] {
  return [...replacements]
    .toSorted(([one], [other]) => other.length - one.length)
    .map(([text, replacement]) => ({ text, encoded: encodeURIComponent(text.toWellFormed()), replacement }))
}

function replaceKnown(message: string, known: readonly Identity[]): string {
  let replaced = message
  for (const { text, encoded, replacement } of known) {
    if (replaced.includes(text)) replaced = replaceWord(replaced, text, replacement)
    if (encoded !== text && replaced.includes(encoded)) replaced = replaceWord(replaced, encoded, replacement)
  }
  return replaced
}

const kindByPrefix = { usr: 'user', enr: 'enrolment', grd: 'grade', mem: 'membership' } as const

/** E-mail addresses, also of other scripts (RFC 6531). Their first part is bounded, so that the time is linear. */
const mailAddress =
  /[\p{L}\p{M}\p{N}_.+'-]{1,64}(?:@|%40)[\p{L}\p{M}\p{N}-]{1,64}(?:\.[\p{L}\p{M}\p{N}-]{1,64})*/gu
/** Ids of people in messages about a row of a file: `User ext:S-815 not found`. */
const personReference = /\b(users?|learners?|members?) ext:([^\s"]*[^\s".,;:)])/gi

const personInPath = /(\/(?:users|learners|members)\/)((?:ext|email)(?::|%3A))?([^/?#]+)/g
const maxMessage = 20_000

const hiddenValue = '[given]'
const hiddenName = '[name]'
const personal =
  /"(?:email|userEmail|displayName|firstName|lastName|userExternalId|learnerExternalId|userId|learnerId)"/

function textIn(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [value] : []
}

/** A short number, or a pseudonym. */
function isPlain(value: string): boolean {
  return /^[\d.,]{0,4}$|^(?:person|external|record|mail)_[a-z2-7]{12}/.test(value)
}

function replaceWord(text: string, word: string, replacement: string): string {
  const escaped = word.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  return text.replaceAll(
    new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'gu'),
    () => replacement,
  )
}

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

/** HMACs of ids (see Pseudonyms) with a key and a map back, in a file that only the user can read; it keeps them the same. */
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

  /** Throws a CommandError for an unknown one, and for an id that would mean something else as an argument. */
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
