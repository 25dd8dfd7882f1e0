import sql from 'sql-template-tag'
import type { Collection } from './collection.ts'
import { active, baseFields } from './collection.ts'

/** The school is the only one. */
export const orgs: Collection = {
  plural: 'orgs',
  singular: 'org',
  fields: [...baseFields, 'name', 'type', 'identifier', 'parent', 'children'],
  async parts({ database, school }) {
    const created = await database.one<{ created_at: string }>(
      sql`select created_at from users order by created_at, id limit ${1}`,
    )
    const dateLastModified = created?.created_at ?? new Date(0).toISOString()
    const org = { ...active(school.id, dateLastModified), name: school.name, type: 'school', identifier: '' }
    return [{ records: [org] }]
  },
}

/** An academy has none. */
export const demographics: Collection = {
  plural: 'demographics',
  singular: 'demographics',
  fields: [...baseFields, 'birthDate', 'sex'],
  parts: async () => [{ records: [] }],
}
