-- What wrk asks: requests are put together once, in init, and then sent in random order.
--   card CARDS                     GET of one of CARDS cards; 5,000 different cards are read
--   any_card CARDS                 the same, of all of them
--   cards_batch CARDS IDS          POST cards/batch
--   box_cards PREFIX BOXES LIMIT   GET box/cards of one of so many boxes
--   boxes_batch PREFIX BOXES IDS LIMIT   POST boxes/batch, hydrated; boxes that follow one another
--   post_card FILE                 POST cards with a new id each time and the document in FILE
-- Ids are as in data.py.

local FIRST, TENANTS, MADE = 100000000000, 4, 5000
local JSON = {["Content-Type"] = "application/json"}
local made = {}

local function id(prefix, number)
    return string.format("%s%d", prefix, FIRST + number)
end

local function card_id(number)
    return id("0197a000-0000-7000-8000-", number)
end

local function path(number, rest)
    return string.format("/projects/tenant-%d/%s", number % TENANTS, rest)
end

local function post(number, rest, body)
    return wrk.format("POST", path(number, rest), JSON, body)
end

-- `count` different ids of one tenant, as JSON strings.
local function ids_of_tenant(tenant, count, total, id_of)
    local ids = {}
    local start = math.random(0, total / TENANTS - 1)
    for i = 0, count - 1 do
        local number = (start + i * 7) % (total / TENANTS) * TENANTS + tenant
        ids[#ids + 1] = '"' .. id_of(number) .. '"'
    end
    return table.concat(ids, ",")
end

local makers = {}

function makers.card(cards)
    local number = math.random(0, cards - 1)
    return wrk.format("GET", path(number, "cards/" .. card_id(number)))
end

function makers.cards_batch(cards, count)
    local tenant = math.random(0, TENANTS - 1)
    return post(tenant, "cards/batch",
                '{"card_ids":[' .. ids_of_tenant(tenant, count, cards, card_id) .. "]}")
end

function makers.box_cards(prefix, boxes, limit)
    local number = math.random(0, boxes - 1)
    return wrk.format("GET", path(number, "boxes/" .. id(prefix, number) .. "/cards?limit=" .. limit))
end

function makers.boxes_batch(prefix, boxes, count, limit)
    local tenant = math.random(0, TENANTS - 1)
    local ids = ids_of_tenant(tenant, count, boxes, function(number) return id(prefix, number) end)
    return post(tenant, "boxes/batch",
                '{"box_ids":[' .. ids .. '],"hydrate":true,"limit":' .. limit .. "}")
end

local function next_made()
    return made[math.random(#made)]
end

-- Ids must be new each time, so these are put together when they are sent.
local function new_cards(file)
    local document = io.open(file):read("*a")
    local before, after = '{"card_id":"', '","metadata":' .. document:match("[^\n]*\n(.*)$")
        .. ',"content":' .. document:match("^[^\n]*") .. "}"
    return function()
        local new = string.format("%08x-%04x-4000-8000-%012x", math.random(0, 0x7fffffff),
                                  math.random(0, 0xffff), math.random(0, 0x7fffffff))
        return post(math.random(0, TENANTS - 1), "cards", before .. new .. after)
    end
end

local threads = 0
function setup(thread)
    thread:set("thread_number", threads)
    threads = threads + 1
end

function init(args)
    local what = table.remove(args, 1)
    local seed = io.open("/dev/urandom", "rb"):read(4)
    math.randomseed(seed:byte(1) + 256 * (seed:byte(2) + 256 * (seed:byte(3) + thread_number)))
    if what == "post_card" then
        request = new_cards(args[1])
        return
    end
    for i, value in ipairs(args) do
        args[i] = tonumber(value) or value
    end
    if what == "any_card" then
        request = function() return makers.card(args[1]) end
        return
    end
    for i = 1, MADE / (what == "boxes_batch" and 50 or 1) do
        made[i] = makers[what](unpack(args))
    end
    request = next_made
end
