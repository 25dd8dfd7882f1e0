import * as z from 'zod'
import { defaultPageSize, maxPageSize } from './constants.ts'
import { bare, componentOf, field, named, objectOf } from './fields.ts'
import { textOrNull } from './record-fields.ts'
import { Instant, Reference, References } from './values.ts'

/**
 * Which items of a list a query parameter matches, by fields of the item. The client checks the items of other platforms
 * with it, because they may ignore a parameter.
 *
 * - `choice`: the field, or one item of it, is one of a comma-separated list, ignoring case; `choices` are the words of the API, `names` has
 *   other words for them
 * - `equal`: the field, or one item of it, is this text; for an address (`anyCase`) ignoring case
 * - `search`: one of the fields contains this text, ignoring case
 * - `start`, `end`: the field is a time from this day or time on, or up to it; `unlessSet` names a parameter with which
 *   items without a time belong as well
 * - `reference`: the field is the id that is referred to; `ext:` and `email:` may be in fields of the item, too;
 *   `several` for a comma-separated list
 */
export type Filter =
  | {
      readonly by: 'choice'
      readonly field: string
      readonly choices: readonly string[]
      readonly names?: Readonly<Record<string, string>>
    }
  | { readonly by: 'equal'; readonly field: string; readonly anyCase?: true }
  | { readonly by: 'search'; readonly fields: readonly string[] }
  | { readonly by: 'start' | 'end'; readonly field: string; readonly unlessSet?: string }
  | {
      readonly by: 'reference'
      readonly field: string
      /** Path parameter of the kind of record. */
      readonly to: 'courseId' | 'userId' | 'termId' | 'groupId'
      readonly ext?: string
      readonly email?: string
      readonly several?: true
      /** Items do not show the field, so that only the platform can tell which ones match. */
      readonly hidden?: true
    }

export type Filters = Readonly<Record<string, Filter>>

const filterBySchema = new WeakMap<z.ZodType, Filter>()

export function filtering<Parameter extends z.ZodType>(parameter: Parameter, filter: Filter): Parameter {
  const own = parameter.clone()
  filterBySchema.set(own, filter)
  return own
}

/** A parameter that matches no items in particular is missing. */
export function filtersOf(query: z.ZodObject): Filters {
  return Object.fromEntries(
    Object.entries(query.shape).flatMap(([name, parameter]) => {
      const filter = filterBySchema.get(parameter as z.ZodType)
      return filter ? [[name, filter]] : []
    }),
  )
}

/** True for `References` and `choices`. */
export function isList(parameter: unknown): boolean {
  const schema = parameter instanceof z.ZodType ? bare(parameter) : undefined
  return (schema instanceof z.ZodPipe ? (schema.in as z.ZodType) : schema)?.meta()?.['type'] === 'array'
}

export const BooleanParam = z.enum(['true', 'false']).transform((text) => text === 'true')

/** Empty text, which would match everything, is refused. */
export function exactly(what: string, field: string) {
  const parameter = z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: `Filter by ${what}` })
  return filtering(parameter, { by: 'equal', field })
}

export function search(where: string, fields: readonly string[]) {
  const parameter = z
    .string()
    .max(255)
    .optional()
    .meta({ description: `Search in ${where}, ignoring case` })
  return filtering(parameter, { by: 'search', fields })
}

const isUser = { by: 'reference', field: 'userId', to: 'userId' } as const

export const ofCourse = filtering(
  Reference.optional().meta({ description: 'Filter by course: id or ext:<externalId>' }),
  { by: 'reference', field: 'courseId', to: 'courseId' },
)
export const ofUser = filtering(
  Reference.optional().meta({ description: 'Filter by user: id, ext:<externalId> or email:<address>' }),
  isUser,
)
/** For items with `userEmail`. */
export const ofUserOrEmail = filtering(ofUser, { ...isUser, email: 'userEmail' })
/** `references` continues the description. */
export function ofAny(references: string) {
  return References.optional().meta({
    ...References.meta(),
    description: `Filter by ${references}; write a comma inside one as \\,`,
  })
}
export const isInCourse = { by: 'reference', field: 'courseId', to: 'courseId', several: true } as const
export const ofCourses = filtering(
  ofAny('course: comma-separated list of ids or ext:<externalId>'),
  isInCourse,
)
export const ofUsers = ofAny('user: comma-separated list of ids, ext:<externalId> or email:<address>')
/** For items with `userId` and `userEmail`. */
export const ofUsersOrEmails = filtering(ofUsers, { ...isUser, email: 'userEmail', several: true })
export const isOneLearner = { by: 'reference', field: 'learnerId', to: 'userId', several: true } as const
/** For items with `learnerId`, `externalId` and `email`. */
export const isLearner = { ...isOneLearner, ext: 'externalId', email: 'email' } as const
export const ofLearners = filtering(ofUsers, isLearner)
/** For items with `learnerId` and `userEmail`. */
export const ofEnrolledLearners = filtering(ofUsers, { ...isOneLearner, email: 'userEmail' })
/** Terms of the courses that are listed or referred to. */
export const ofTerms = filtering(
  ofAny('term of the course: comma-separated list of ids, ext:<externalId> or names that no other term has'),
  { by: 'reference', field: 'termId', to: 'termId', several: true, hidden: true },
)
export const ofGroups = filtering(
  ofAny('group: comma-separated list of ids, ext:<externalId> or names that no other group has'),
  { by: 'reference', field: 'groupId', to: 'groupId', several: true },
)
export const inGroups = filtering(
  ofAny('members of groups: comma-separated list of ids, ext:<externalId> or names that no other group has'),
  { by: 'reference', field: 'groupId', to: 'groupId', several: true, hidden: true },
)
export const UpdatedSince = filtering(
  Instant.optional().meta({ description: 'Updated at or after this time' }),
  { by: 'start', field: 'updatedAt' },
)

/** From `since`, and before `until`; `field` is the main time of the list. */
export function period(event: string, field: string) {
  const [from, to] = [`${event} at or after this time`, `${event} before this time`]
  return {
    since: filtering(Instant.optional().meta({ description: from }), { by: 'start', field }),
    until: filtering(Instant.optional().meta({ description: to }), { by: 'end', field }),
  }
}

export function periodAndUpdates(event: string, field: string) {
  return { ...period(event, field), updated_since: UpdatedSince }
}

/** The compiler checks the first word. */
type CommaSeparated<Word extends string> = Word | `${Word},${string}`

/** Choices are separated by commas: `status=draft,published`. */
export function choices<const Choice extends string, const Synonym extends string = never>(
  all: readonly [Choice, ...Choice[]],
  synonyms?: Readonly<Record<Synonym, Choice>>,
) {
  const one = z.enum(all)
  const known: Readonly<Record<string, Choice>> = synonyms ?? {}
  const words = [...all, ...Object.keys(known)]
  return (z.string() as z.ZodType<string, CommaSeparated<Choice | Synonym>>)
    .meta({
      type: 'array',
      items: { type: 'string', enum: words },
      minItems: 1,
      description: `Comma-separated list of ${words.join(', ')}`,
    })
    .transform((list, context) =>
      list.split(',').flatMap((item) => {
        const word = item.trim()
        const parsed = one.safeParse(Object.hasOwn(known, word) ? known[word] : word)
        if (parsed.success) return [parsed.data]
        context.addIssue({ code: 'invalid_value', values: words, input: item })
        return []
      }),
    )
}

/** A parameter of one choice, for items whose field is that choice. `options` are those of another parameter's choices. */
export function oneOf<Choice extends z.ZodType>(
  field: string,
  choice: Choice,
  options: readonly string[],
  { what = field, names }: { what?: string; names?: Readonly<Record<string, string>> } = {},
) {
  const parameter = choice.optional().meta({ description: `Filter by ${what}` })
  return filtering(parameter, { by: 'choice', field, choices: options, ...(names && { names }) })
}

/** A parameter of choices, for items whose field is one of them. */
export function choiceOf<const Choice extends string, const Synonym extends string = never>(
  field: string,
  all: readonly [Choice, ...Choice[]],
  synonyms?: Readonly<Record<Synonym, Choice>>,
) {
  const names = synonyms && { names: synonyms as Readonly<Record<string, string>> }
  return filtering(choices(all, synonyms).optional(), { by: 'choice', field, choices: all, ...names })
}

export const paging = {
  limit: z.coerce
    .number<number | string>()
    .int()
    .min(1)
    .max(maxPageSize)
    .default(defaultPageSize)
    .meta({
      description: `Items per page (default ${defaultPageSize})`,
    }),
  cursor: z.string().max(2048).optional().meta({ description: 'nextCursor of the previous page' }),
  include_total: BooleanParam.default(false).meta({
    description: 'Include the total number of items (default false)',
  }),
}

/** `sort=field` or `sort=-field`; default newest first. */
export function sorting<const Field extends string>(
  fields: readonly [Field, ...Field[]],
  standard: Field | `-${Field}`,
) {
  const both = fields.flatMap((field) => [field, `-${field}`] as const) as [Field | `-${Field}`]
  return z
    .enum(both)
    .default(standard as never)
    .meta({
      description: `Sort by this field; prefix with - for descending (default ${standard})`,
    })
}

/**
 * `nextCursor` is null only on the last page; `total` is present on request. If counting stopped early,
 * `totalIsExact` is false and `total` is a lower bound.
 */
export function pageFields<Item extends z.ZodType>(item: Item) {
  return {
    data: field(z.array(item), 'The items of this page'),
    nextCursor: textOrNull('Send it as cursor to get the next page; null on the last page'),
    total: field(z.int().optional(), 'Number of items on all pages, if requested with include_total=true'),
    totalIsExact: field(
      z.boolean().optional(),
      'Whether total is exact; if false, there are at least that many',
    ),
  }
}

/** `of` names the items: `courses`. */
export function listOf<Item extends z.ZodType>(item: Item, of: string) {
  const page = objectOf(pageFields(item))
  return {
    response: named(`${componentOf(item)?.name}Page`, `One page of ${of}`, page),
    list: true,
  } as const
}

export const erase = BooleanParam.default(false).meta({
  description: 'Delete permanently, also what is deleted already; requires an admin (default false)',
})

export const trashSort = sorting(['deletedAt'], '-deletedAt')
