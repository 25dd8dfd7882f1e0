import * as z from 'zod'
import { mappedNouns } from './constants.ts'
import { answered, field, named, sent, shown } from './fields.ts'
import { LmsKind } from './foreign-records.ts'
import { changed } from './record-fields.ts'
import { Reference } from './values.ts'

export const MappedNoun = named('MappedNoun', 'What is mapped: a course or a user', z.enum(mappedNouns))

const mappingAttributes = {
  noun: field(MappedNoun, 'What is mapped: course or user'),
  externalKey: field(z.string().min(1).max(255), 'Id of the course or user in the other system'),
  reference: field(
    Reference,
    'Course: id or ext:<externalId>; user: id, ext:<externalId> or email:<address>; responses have the id',
  ),
}

/** Always sent as a whole; system, noun and key identify it. */
export const MappingInput = named(
  'MappingInput',
  'A mapping, always as a whole. System, noun and key identify it',
  sent(mappingAttributes),
)
export type MappingInput = z.output<typeof MappingInput>

export const Mapping = named(
  'Mapping',
  'What a course or user of the other system is here',
  shown(() => ({
    id: field(z.string(), 'Id of the mapping, map_…'),
    lmsKind: field(LmsKind, 'Kind of the other system'),
    ...answered(mappingAttributes),
    name: field(
      z.string().nullable(),
      'Title of the course or e-mail address of the user, as it is now; null if it was deleted permanently',
    ),
    targetStatus: field(z.enum(['active', 'deleted']), 'Whether the course or user is there, or was deleted'),
    ...changed,
  })),
)
export type Mapping = z.output<typeof Mapping>
