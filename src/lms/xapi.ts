import { hash } from 'node:crypto'
import { wholeCourse, type XapiVersion } from '../contract/constants.ts'
import type { Actor, Statement } from '../contract/statements.ts'

// Statements of the Experience API: 1.0.3 (https://github.com/adlnet/xAPI-Spec) and 2.0 (IEEE 9274.1.1-2023).

interface StatementForm {
  readonly version: XapiVersion
  /** URL of the academy, which accounts, activities and ids begin with. */
  readonly homePage: string
  readonly actor: Actor
}

export interface Subject {
  readonly learner: { readonly id: string; readonly externalId: string | null; readonly email: string }
  readonly course: { readonly id: string; readonly title: string; readonly language: string | null }
}

interface ProgressRecord extends Subject {
  readonly version: number
  readonly completionPercentage: number
  readonly lastAccessed: string
}

interface GradeRecord extends Subject {
  readonly id: string
  readonly version: number
  /** `$course` for the course as a whole. */
  readonly itemId: string
  readonly label: string
  readonly scoreGiven: number
  readonly scoreMaximum: number
  readonly gradedAt: string
}

interface CourseGradeRecord extends Subject {
  readonly percent: number
  readonly passed: boolean
  readonly updatedAt: string
}

export type LearningRecord =
  | { readonly kind: 'progress' | 'completion'; readonly record: ProgressRecord }
  | { readonly kind: 'grade'; readonly record: GradeRecord }
  | { readonly kind: 'courseGrade'; readonly record: CourseGradeRecord }

type Activity = Statement['object']
type Result = NonNullable<Statement['result']>

const verbs = 'http://adlnet.gov/expapi/verbs/'
const activityTypes = 'http://adlnet.gov/expapi/activities/'
/** Extension of cmi5 for a whole number from 0 to 100. */
const progressExtension = 'https://w3id.org/xapi/cmi5/result/extensions/progress'
const platform = 'learnctl'
/** A language that is not known (BCP 47). */
const undetermined = 'und'

/** Equal records make equal statements with equal ids. */
export class StatementMaker {
  readonly #form: StatementForm
  readonly #homePage: string
  readonly #namespace: Buffer

  constructor(form: StatementForm) {
    this.#form = form
    this.#homePage = form.homePage.replace(/\/+$/, '')
    this.#namespace = bytesOf(uuidOf(urlNamespace, this.#homePage))
  }

  statementOf(about: LearningRecord): Statement {
    return this.#statement(about.record, toldOf(about))
  }

  /**
   * A statement of the academy itself, which tests a connection. It is the same each time, so that a record store
   * keeps it once.
   */
  test(key: string, at: string): Statement {
    const { version } = this.#form
    return {
      id: uuidOf(this.#namespace, `test/${key}`),
      actor: { objectType: 'Agent', account: { homePage: this.#homePage, name: platform } },
      verb: verbOf('interacted'),
      object: { objectType: 'Activity', id: this.#homePage },
      context: { registration: uuidOf(this.#namespace, 'test'), platform },
      timestamp: at,
      ...versionOf(version),
    }
  }

  #statement({ learner, course }: Subject, { verb, key, at, result, item }: Told): Statement {
    const activity = this.#courseActivity(course)
    const { actor, version } = this.#form
    return {
      // A statement about another actor is another statement.
      id: uuidOf(this.#namespace, `${key}/${verb}/${actor}`),
      actor: this.#agent(learner),
      verb: verbOf(verb),
      object: item ? itemActivity(activity.id, item, course) : activity,
      ...(result && { result }),
      context: {
        registration: uuidOf(this.#namespace, `registration/${learner.id}/${course.id}`),
        platform,
        ...(item && { contextActivities: { parent: [activity] } }),
      },
      timestamp: at,
      ...versionOf(version),
    }
  }

  #courseActivity({ id, title, language }: Subject['course']): Activity {
    return {
      objectType: 'Activity',
      id: `${this.#homePage}/v1/courses/${id}`,
      definition: { type: `${activityTypes}course`, name: { [language ?? undetermined]: title } },
    }
  }

  #agent({ id, externalId, email }: Subject['learner']): Statement['actor'] {
    const { actor } = this.#form
    if (actor === 'email') return { objectType: 'Agent', mbox: mboxOf(email) }
    const name = actor === 'external-id' && externalId !== null ? externalId : id
    return { objectType: 'Agent', account: { homePage: this.#homePage, name } }
  }
}

interface Told {
  readonly verb: string
  /** Identifies the record and its version. */
  readonly key: string
  readonly at: string
  readonly result?: Result
  /** Absent for the course as a whole. */
  readonly item?: Pick<GradeRecord, 'itemId' | 'label'>
}

function toldOf({ kind, record }: LearningRecord): Told {
  switch (kind) {
    case 'progress': {
      const { version, completionPercentage, lastAccessed: at } = record
      const key = progressKey(record)
      if (version === 1 && completionPercentage === 0) return { verb: 'initialized', key, at }
      const result = { extensions: { [progressExtension]: Math.floor(completionPercentage) } }
      return { verb: 'progressed', key, at, result }
    }
    // The record that reached the completion threshold.
    case 'completion': {
      const result = { completion: true }
      return { verb: 'completed', key: progressKey(record), at: record.lastAccessed, result }
    }
    case 'grade': {
      const { id, version, itemId, gradedAt: at } = record
      const result = { score: scoreOf(record.scoreGiven, record.scoreMaximum) }
      const told = { verb: 'scored', key: `grade/${id}/${version}`, at, result }
      return itemId === wholeCourse ? told : { ...told, item: record }
    }
    case 'courseGrade': {
      const { learner, course, percent, passed, updatedAt: at } = record
      const key = `course-grade/${learner.id}/${course.id}/${at}/${percent}`
      const result = { score: scoreOf(percent, 100), success: passed }
      return { verb: passed ? 'passed' : 'failed', key, at, result }
    }
  }
}

function progressKey({ learner, course, version }: ProgressRecord): string {
  return `progress/${learner.id}/${course.id}/${version}`
}

function verbOf(verb: string): Statement['verb'] {
  return { id: `${verbs}${verb}`, display: { en: verb } }
}

/** A provider of 1.0.3 should not set the version (Data 2.4.10). */
function versionOf(version: XapiVersion): Pick<Statement, 'version'> {
  return version === '1.0.3' ? {} : { version }
}

function itemActivity(
  courseId: string,
  { itemId, label }: Pick<GradeRecord, 'itemId' | 'label'>,
  { language }: Subject['course'],
): Activity {
  return {
    objectType: 'Activity',
    id: `${courseId}/items/${encodeURIComponent(itemId)}`,
    definition: {
      type: `${activityTypes}assessment`,
      name: { [language ?? undetermined]: label === '' ? itemId : label },
    },
  }
}

/** Starts at 0. A score above its maximum is extra credit: `raw` must not exceed `max` (Data 2.4.5.1), so there is none. */
function scoreOf(given: number, maximum: number): Result['score'] {
  const scaled = Math.min(1, given / maximum)
  return { scaled, raw: given, min: 0, ...(given <= maximum && { max: maximum }) }
}

/** The local part needs no quotes (RFC 6068 §2). */
function mboxOf(email: string): string {
  const at = email.lastIndexOf('@')
  const local = email.slice(0, at).replace(/[^\w.+'-]/gu, (character) =>
    // encodeURIComponent leaves some that an address would have to quote.
    encodeURIComponent(character).replace(
      /^[^%]$/,
      (plain) => `%${plain.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
  )
  return `mailto:${local}${email.slice(at)}`
}

/** Namespace of URLs (RFC 9562 §6.6). */
const urlNamespace = bytesOf('6ba7b811-9dad-11d1-80b4-00c04fd430c8')

/** Version 5 of RFC 9562 (§5.5). */
export function uuidOf(namespace: Buffer, name: string): string {
  const digest = hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'hex')
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}
