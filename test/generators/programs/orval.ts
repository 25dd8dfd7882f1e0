import {
  analyticsLearners,
  coursesCreate,
  coursesList,
  coursesUpdate,
  progressSet,
  usersCreate,
} from '../generated/orval'
import type { Story } from './story'

/** Runs the story with the functions of orval, whose base address is part of their text. */
export async function runStory(_baseUrl: string, key: string): Promise<Story> {
  const authorization = `Bearer ${key}`
  const options = { headers: { authorization } }
  const created = await coursesCreate({ title: 'Marine Biology', status: 'published' }, options)
  const user = await usersCreate({ email: 'ada@example.org' }, options)
  if (created.status !== 201 || user.status !== 201) throw new Error('Nothing was created')
  const listed = await coursesList({ status: ['draft', 'published'], include_total: true, limit: 5 }, options)
  const first = { headers: { authorization, 'If-Match': '"1"' } }
  const { id } = created.data
  const updated = await coursesUpdate(id, { description: 'Life in the sea', language: null }, first)
  const stale = await coursesUpdate(id, { description: 'Old' }, first)
  const refused = await coursesCreate({ title: '' }, options)
  const progress = await progressSet(user.data.id, { courseId: id, completionPercentage: 40 }, options)
  const csv = await analyticsLearners({ format: 'json', limit: 1 }, options)
  if (listed.status !== 200 || updated.status !== 200 || progress.status !== 200 || csv.status !== 200) {
    throw new Error('A request was refused')
  }
  return {
    version: created.data.version,
    titles: listed.data.data.map(({ title }) => title),
    total: listed.data.total,
    modified: updated.data.modifiedAttributes,
    stale: [stale.status, stale.status === 412 ? stale.data.code : ''],
    pointers: refused.status === 422 ? (refused.data.errors?.map(({ pointer }) => pointer) ?? []) : [],
    progress: progress.data.status,
    columns: '',
  }
}
