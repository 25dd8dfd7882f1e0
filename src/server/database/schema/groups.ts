import { deleted, integer, orNull, type Table, text } from './table.ts'

/** Lists are sorted by `name_key` and searched by `search_key`. */
const groups: Table = {
  name: 'groups',
  columns: {
    id: text,
    external_id: orNull(text),
    name: text,
    name_key: text,
    search_key: text,
    course_id: orNull(text),
    managed_by: orNull(text),
    version: integer,
    created_at: text,
    updated_at: text,
  },
  key: 'id',
  unique: ['external_id'],
  references: [{ from: 'course_id', to: 'courses (id)', cascade: true }],
  indexes: [
    'create index groups_by_created_at on groups (created_at, id)',
    'create index groups_by_updated_at on groups (updated_at, id, created_at, name_key)',
    'create index groups_by_name on groups (name_key, id)',
    'create index groups_by_course on groups (course_id, created_at, id, updated_at, name_key) where course_id is not null',
    'create index groups_by_manager on groups (managed_by, created_at, id, updated_at, name_key) where managed_by is not null',
  ],
}

/** Ids sort by the time at which a member was added. */
const groupMembers: Table = {
  name: 'group_members',
  columns: {
    id: text,
    group_id: text,
    user_id: text,
    added_at: text,
  },
  key: 'id',
  inKeyOrder: true,
  unique: ['group_id, user_id'],
  references: [
    { from: 'group_id', to: 'groups (id)', cascade: true },
    { from: 'user_id', to: 'users (id)' },
  ],
  indexes: [
    'create index group_members_by_group on group_members (group_id, id, user_id)',
    'create index group_members_by_user on group_members (user_id, id, group_id)',
  ],
}

const deletedGroups = deleted(groups, {
  key: 'id',
  indexes: [
    'create index deleted_groups_by_course on deleted_groups (course_id, id) where course_id is not null',
    'create index deleted_groups_by_external_id on deleted_groups (external_id) where external_id is not null',
  ],
})

const deletedGroupMembers = deleted(groupMembers, {
  key: 'group_id, id',
  indexes: ['create index deleted_group_members_by_user on deleted_group_members (user_id, group_id, id)'],
})

export const groupTables: readonly Table[] = [groups, groupMembers, deletedGroups, deletedGroupMembers]
