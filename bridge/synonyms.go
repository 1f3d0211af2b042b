package bridge

import (
	"slices"
	"strings"
	"sync"
)

// The tables below are general English (and the commonest tool words of some
// other languages), written by hand, not taken from any data set. They are
// read once, at the first search.

// families are words of one root that the stemmer keeps apart. The first one
// stands for all.
const families = `
training trained trainer
animate animation animated
author authors
rating ratings rated
experience experienced
analyze analyse analysis analyses analytic analytics analytical analyzer analyst
convert conversion converter
describe description descriptive
subscribe subscription subscriber
delete deletion deleted
retrieve retrieval
summarize summarise summary summaries summarization summarizer
authenticate authentication auth
optimize optimise optimization optimal optimum
organize organise organization organisation
visualize visualise visualization visualisation visual
recognize recognise recognition
categorize categorise category categorization
customize customise customization custom
color colour
favorite favourite
center centre
catalog catalogue
program programme
recommend recommendation
decide decision
choose choice chosen chose
compare comparison
pay payment paid
sell sold sale
buy bought
send sent
write written wrote writing
read reader reading
find found finder
make made maker
take took taken
give gave given
get got gotten getter
go went gone
build built builder
think thought
speak spoke spoken speech
draw drawn drew drawing
grow grew grown growth
know knew known knowledge
begin began begun
run ran running runner
child children
person people persons
man men
woman women
mouse mice
foot feet
tooth teeth
index indices indexes
matrix matrices
vertex vertices
axis axes
datum data
medium media
criterion criteria
leaf leaves
life lives
wife wives
translate translation translator
calculate calculation calculator
generate generation generator
search searcher searching
schedule scheduler scheduling
validate validation validator valid
verify verification
modify modification
notify notification
classify classification classifier
identify identification
specify specification
apply application applicant
simplify simplification
explain explanation
expand expansion
extend extension
reduce reduction
produce production
introduce introduction
transcribe transcription transcript
subtract subtraction
compress compression compressor
decompress decompression
encrypt encryption
decrypt decryption
predict prediction predictor
forecast forecasting forecaster
estimate estimation estimator
invest investment investor
advertise advertisement advertising ad ads advert
entertain entertainment
educate education educational
medicine medication medical medicinal
nutrition nutritional nutrient
music musical musician
history historical historic
politics political politician
economy economic economics economical
electric electricity electrical
mathematics math maths mathematical
chemistry chemical
biology biological
geography geographic geographical
psychology psychological
statistics statistic statistical stats stat
finance financial
legal law lawyer
travel traveller traveler travelling
photo photograph photography photographer
discuss discussion
respond response
reply replies
receive receipt received
connect connection connector
install installation installer
configure configuration config
register registration
monitor monitoring
debug debugger debugging
compile compiler compilation
simulate simulation simulator
integrate integration
differentiate differential derivative
coordinate coordinates
navigate navigation navigator
route routing
locate location
measure measurement
detect detection detector
extract extraction extractor
transform transformation
evaluate evaluation evaluator
assess assessment
inspect inspection
review reviewer
solve solution solver
sort sorting
filter filtering
merge merger
divide division
multiply multiplication
add addition
remove removal
create creation creator creative
insert insertion
select selection selector
execute execution executor
remind reminder
play player
stream streaming streamer
download downloader
upload uploader
print printer
scan scanner
crawl crawler
scrape scraper
reserve reservation booking booked
order ordering
ship shipping shipment
deliver delivery
price pricing
cost costs
tax taxes
tempo temporal
safe safety
secure security
sign signature
long length
wide width
high height
deep depth
strong strength
hot heat
warm warmth
weigh weight
fly flight flew
live living
mean meaning
happy happiness
expensive expense expenditure
popular popularity
probable probability
similar similarity
available availability
`

// ownStems are words that the stemmer would take for forms of another.
const ownStems = `
news general generally generic animal community communicate communication conversation
authority excellent excellence united university universal universe experiment
experimental position positive customer organ organic important importance interesting
interested evening savings police secretary secret past paste past numerous several
severity internal international internet interval matter operator opera policy probe
relative relation relate state station statement active action activity object objective
execute executive design designate native nation national hospital hospitality
positive negative negotiate patent import comment commerce commercial command community
commit committee commission company companion contact contract content contest context
factory factor human humanity universe vocal vocation wander
`

// synonymGroups are words that stand for each other. A line "a b > c d" leads
// from a and b to c and d, not back: from the narrow to the broad.
const synonymGroups = `
create make new add generate build compose draft author
add insert append attach include put
delete remove erase destroy drop discard clear purge wipe unlink
update edit modify change alter revise adjust patch amend
get fetch retrieve obtain read load pull grab acquire
show display view present render print
list enumerate all browse index inventory
search find lookup query locate discover seek explore look
send deliver transmit dispatch forward submit
write save store record put persist
read open view load cat content contents
copy duplicate clone replicate
move transfer relocate migrate
rename retitle
run execute launch start invoke trigger perform
start begin launch open initiate activate enable boot
stop end terminate kill halt cancel abort quit close shutdown
cancel revoke undo withdraw
check verify validate test inspect confirm ensure
compare diff difference contrast versus
calculate compute determine evaluate work solve
convert transform translate change turn
count number total amount quantity
sum total add
average mean
merge combine join unite concatenate
split divide separate partition
sort order arrange rank
filter narrow select refine
select choose pick
summarize digest overview brief recap outline abstract tldr
explain describe clarify interpret teach
describe detail details info information about
analyze examine study investigate assess evaluate inspect insight
predict forecast project estimate
recommend suggest advise propose suggestion advice
monitor watch track observe follow
track trace follow tracking
schedule plan appointment calendar
plan planner itinerary
book > reserve
buy purchase order shop
sell trade
pay checkout charge
rent lease rental
share publish post
publish release post deploy
comment reply respond answer note
answer response reply
ask question query
message chat dm text sms
email mail inbox gmail
call phone dial telephone
notify alert remind inform
remind alarm timer
sign signup enroll register join
login signin authenticate
upload import attach
download export save
import ingest load
extract parse scrape pull
crawl scrape spider
translate interpret translation
transcribe transcript caption subtitle
draw sketch paint illustrate
design create style
edit retouch
resize scale
crop trim cut
rotate turn flip
compress zip archive shrink
decompress unzip extract unpack
encrypt encode cipher
decrypt decode decipher
visualize plot chart graph diagram
chart graph plot
diagram flowchart mindmap chart
map atlas geography
fix repair correct debug resolve
improve enhance optimize upgrade boost
debug troubleshoot diagnose
learn study tutor teach education course training
practice exercise training
practice training
coach training
play game
watch view stream
listen hear
cook recipe meal
eat food meal dine
drink beverage cocktail
travel trip journey vacation holiday tour tourism
visit tour
drive car
image picture photo photograph pic
picture image illustration artwork
video clip movie footage
movie film cinema
film movie
show series tv television
song music track tune
music song audio
audio sound voice
voice speech speak
podcast episode audio
book novel ebook
article post blog story
paper publication article research scholarly academic
document doc file paper
file document
folder directory
directory folder path
page webpage website
website site web webpage url
web internet online
internet web online
link url hyperlink
url link address
news headline article
code source programming program script
program code software
software application app program
app application
repository repo codebase project
repo repository
branch ref
commit revision changeset
issue ticket bug
ticket issue
bug error defect issue
pr pull
database db sql
table spreadsheet
spreadsheet excel sheet csv
slides presentation powerpoint deck slide
pdf document
text string
word term
language lang
dictionary definition vocabulary
definition meaning
synonym thesaurus
grammar spelling proofread
user account member profile
account profile user
customer client buyer
client customer
person contact people
contact address person
team group
group category class
employee staff worker
boss manager
company business firm corporation organization
business company enterprise
startup company
job career employment position vacancy work
resume cv
salary wage income pay
skill ability talent
task todo job
project task
note memo notes
meeting appointment call conference
event occasion
date day
day date
time clock hour
timezone time
calendar schedule event
today current now
current now present latest
latest recent newest new
history past previous log
log history record
place location venue
location place position address
address location street
city town
country nation
route path direction directions way
distance far length range
nearby near around close
hotel accommodation lodging stay hostel
flight airline plane airplane airfare
airport flight
train railway rail
bus transit
transport transportation transit
taxi cab ride
car vehicle auto automobile
vehicle car
restaurant dining cafe eatery
recipe cooking dish
food meal nutrition dish
diet nutrition
nutrition calorie
grocery supermarket
weather temperature climate forecast
temperature weather
rain precipitation
air atmosphere
stock share equity ticker
shares stock
market exchange trading
price cost rate quote value
cost price expense fee
cheap affordable discount
discount coupon deal promo sale
deal offer discount
product item goods merchandise
item product
shop store shopping
store shop
gift present
fashion clothing clothes outfit style
money currency cash
currency money exchange forex
crypto cryptocurrency coin
bank banking
loan mortgage credit
mortgage loan
tax vat
invest investment portfolio
portfolio holdings
invoice bill
bill invoice
budget expense spending
house home property
property estate house
apartment flat
health medical wellness
disease illness condition
symptom disease
doctor physician
hospital clinic
medicine drug medication
drug medicine
patient medical
fitness workout exercise
workout exercise fitness
sport sports
football soccer
soccer football
match game fixture
score result
team club
player athlete
school education
student pupil learner
teacher tutor instructor
university college
course class lesson tutorial
lesson course
exam test quiz
quiz trivia question
kid child
baby infant
parent family
pet animal
dog pet
cat pet
law legal attorney
lawyer attorney
contract agreement
patent invention
government policy
election vote
crime criminal
police crime
gene genetic dna
protein amino
chemical compound
molecule compound
math mathematics
equation formula
formula equation
derivative differentiate
area surface
volume capacity
speed velocity
velocity speed
random dice
password credential secret
secret credential
key token
token key
permission access role
security safety
vulnerability security
server host
host server
container docker
cloud hosting
deploy deployment release
status state health
state status
error failure exception
memory remember
graph network
node vertex entity
entity node
relation edge link relationship
observation fact
color palette
logo brand icon
icon logo
font typeface
poem poetry
joke humor funny
story tale narrative
quote quotation saying
horoscope astrology zodiac
tarot fortune
dream sleep
meditation mindfulness
date dating
wedding marriage
ad marketing campaign
marketing seo advertise
seo keyword
lead prospect
social media
tweet twitter
video youtube
trend trending popular
popular top trending best
best top
review rating feedback
rating review
opinion review
size dimension
width size
height size
list array
sequence order series
type kind category
kind type
name title
title name heading
description detail
id identifier
identifier id
version release
format style
field property attribute
attribute property
setting config preference option
config settings
screen screenshot capture
screenshot capture
button click
click press tap
type input fill
form input
browser page tab
device appliance
light lamp
thermostat temperature
lock door
camera webcam
phone mobile
mobile phone
computer pc
robot bot
bot assistant
assistant helper
energy power electricity
power energy
water liquid
carbon emission
environment environmental
pollution quality
planet space
space astronomy
satellite orbit
star astronomy
moon lunar
earthquake seismic
flood disaster
plant crop
crop farm agriculture
farm agriculture
animal wildlife
anime manga
comic manga
card deck
chess game
lyrics song
concert event
ticket event
museum art
art artwork painting
painting art
festival event
birthday anniversary
population demographic
race ethnicity
religion faith
bible scripture
prayer religion
war military
army military
horror thriller comedy drama romance documentary > movie film genre
sitcom > show tv series
rock jazz pop rap hiphop > music song
guitar piano violin drum > music instrument
singer band artist album playlist > music song
spotify > music
netflix hulu > movie streaming show
actor actress director > movie film
pizza burger pasta sushi salad soup steak chicken > food recipe meal restaurant
breakfast lunch dinner brunch dessert snack > meal food recipe
vegetarian vegan keto gluten > diet recipe food
wine beer coffee tea > drink beverage
ingredient > recipe cooking
bitcoin ethereum btc eth dogecoin > crypto cryptocurrency coin
blockchain wallet nft defi > crypto
dollar euro yen pound rupee usd eur gbp jpy inr cny > currency money exchange
nasdaq dow etf dividend > stock market finance
earnings revenue profit > finance financial company
python javascript java golang rust typescript > code programming language
function algorithm > code programming
github gitlab bitbucket > repository git code
kubernetes pod helm > container cluster
postgres mysql sqlite mongodb redis > database sql
json xml yaml > data format
api endpoint > service request
html css react > web frontend
paris london tokyo rome > city travel
beach mountain hiking resort cruise > travel trip destination
sightseeing landmark attraction > travel tour tourist
luggage visa passport > travel
subway metro tram > train transit transport
tesla toyota honda bmw ford > car vehicle
headache fever cough pain cancer diabetes > symptom health medical disease
vitamin protein calorie > nutrition health
yoga running gym cardio > fitness workout exercise
basketball baseball tennis hockey cricket golf > sport game
nba nfl nhl mlb fifa > sport league
olympics tournament league championship > sport
algebra geometry calculus trigonometry > math
triangle circle square rectangle sphere cylinder > shape geometry
essay homework assignment thesis > writing student education
journal citation arxiv pubmed doi > paper research
scientist science experiment > research
spanish french german chinese japanese english > language translate
shirt dress shoes jacket jewelry > clothing fashion
sofa chair table furniture > furniture home
laptop smartphone tablet iphone > device product
birthday christmas valentine > gift event holiday
snow storm wind humidity sunny > weather
tomorrow weekend week > date time
interview hiring recruiter recruit candidate > job
tenant landlord realtor > property rent
puppy kitten dog cat > pet animal
lamp bulb > light
mp3 wav flac > audio music
mp4 avi mkv > video
png jpg jpeg gif svg > image
docx > word document
xlsx xls csv > spreadsheet excel
pptx ppt > presentation slides powerpoint
md markdown > document text
readme > file document
tweet hashtag instagram tiktok facebook > social
linkedin > job social professional
slack discord telegram whatsapp > message chat
jira trello asana > issue task project
notion confluence > page note document
salesforce hubspot crm > customer lead
stripe paypal > payment
shopify amazon ebay walmart > product shopping
uber lyft > ride taxi
airbnb > accommodation rental stay
zoom teams > meeting
eclipse comet galaxy asteroid mars telescope constellation astronaut rocket nasa > space astronomy planet
aries taurus gemini cancer leo virgo libra scorpio sagittarius capricorn aquarius pisces zodiac > horoscope astrology
homework classroom syllabus curriculum lecture > education course student
pronounce pronunciation accent fluent vocabulary > language speak
grammar typo sentence paragraph rewrite rephrase paraphrase > write text
essay novel script screenplay copy > write story
poem sonnet haiku rhyme > poetry
interview salary resume hire hiring > job career
condo studio bedroom tenant landlord > apartment house rent property
realtor realestate neighborhood > property house
sneakers sneaker boots hoodie jeans hat bag handbag > shoes clothing apparel product
apparel clothing wear garment
wear > clothing fashion
makeup skincare perfume lipstick > beauty product
gadget headphones headphone keyboard monitor printer > product device
backlink keyword ranking traffic serp > seo website
domain hostname dns > website internet
html layout landing > website design
debt repay repayment interest installment > loan credit finance
retirement pension savings saving > invest finance
income payroll deduction refund > tax
insurance premium coverage claim
coverage claim > insurance
petrol gasoline diesel fuel gas
park parking garage > car
highway traffic commute > route road map
road street
mechanic tire engine > car vehicle
charger charging > electric vehicle battery
battery power
umbrella sunscreen > weather
hurricane tornado cyclone typhoon thunderstorm blizzard > storm weather
surf wave tide swell > sea ocean beach
ocean sea marine
river lake > water
volcano tremor quake aftershock > earthquake
recycle sustainability climate > environment
donate donation nonprofit volunteer fundraiser > charity
charity donation
quran koran hadith torah verse gospel > religion scripture
church mosque temple > religion
mayor senator parliament congress president minister > government politics
legislation statute regulation bill > law government
court judge lawsuit trial sue > law legal
divorce custody will > law legal
visa immigration citizenship > government travel
allergy asthma vaccine surgery therapy therapist anxiety depression > health medical
therapy counseling treatment
dentist nurse pharmacist > doctor health
pill dose dosage prescription > medicine drug
pregnancy pregnant > health baby
weightloss bmi fat > fitness diet health
muscle pushup squat > workout exercise
sleep insomnia > health
habit routine goal > productivity
productivity focus efficiency
todo reminder checklist > task
brainstorm inspiration > idea
idea suggestion concept
opening checkmate grandmaster > chess
sudoku crossword wordle > puzzle game
puzzle riddle > game
quiz > question game
rpg minecraft roblox pokemon > game
dice coin roulette lottery > random
casino bet betting odds > game sport
meme sticker gif > image funny
wallpaper avatar portrait > image
cartoon anime drawing > image art
sculpture gallery exhibition > art museum
camera lens > photo
subtitle subtitles caption > video transcript
trailer episode season > show movie
theater theatre broadway opera musical > show ticket event
comedian standup > comedy show
festival gig tour > concert event music
chord melody beat tempo > music
dj remix > music
bestseller paperback author chapter > book
magazine newspaper journalist > news
breaking politics election > news
abstract bibliography reference > paper citation
hypothesis theory > science research
dna genome protein cell > biology gene
atom molecule reaction > chemistry
physics force gravity > science
integral limit polynomial logarithm > math calculate
percentage percent ratio fraction > calculate math
probability statistics
median deviation variance correlation regression > statistics
histogram scatter pie bar line > chart
flowchart sequence mindmap timeline > diagram
dashboard kpi metric > analytics report
report summary
metric measure indicator
unit kilometer mile meter pound kilogram celsius fahrenheit inch > convert unit
timezone utc gmt > time
deadline due > date task
anniversary holiday > date event
agenda minutes > meeting
invite invitation guest attendee > event meeting
rsvp party > event
newsletter campaign subscriber > email marketing
slogan tagline branding > brand marketing
logo typography > design
mockup prototype wireframe figma > design
ui ux interface > design
component widget
crm pipeline lead deal > sales
sales revenue
supplier vendor warehouse stock > inventory
shipping courier parcel package > delivery track
package library module dependency
npm pip pypi maven gradle cargo > package dependency
lint linter test unittest > code
compile compiler build
bug stacktrace exception > debug error
regex pattern
vm instance aws azure gcp ec2 > cloud server
ssh shell terminal bash command > server
terminal shell command console
process cpu ram > system
firewall malware phishing breach cve > security vulnerability
wifi bluetooth router > network
ip subnet ping > network
website uptime latency > performance
screenshot viewport > browser page
chatbot gpt llm > ai
artificial intelligence > ai
prompt instruction
neural model training > ai
dataset corpus > data
row column cell > table spreadsheet
select join where > sql query
backup restore snapshot
snapshot backup
sync synchronize
synchronize sync
zip archive tar > compress file
qr barcode > code scan
signature sign contract > document
form survey questionnaire
survey poll
vote poll
invoice receipt > payment
receipt invoice
wallet balance transfer > payment money account
transfer send
withdraw deposit > bank money
deposit > bank
atm branch > bank
bond dividend option futures > stock invest
bull bear > market
quote ticker > stock
token contract gas mint > crypto blockchain
blockchain crypto
restaurant menu chef waiter reservation > dining food
cuisine italian chinese mexican indian thai > restaurant food
bar pub nightlife club > restaurant entertainment
entertainment fun leisure
zoo park playground > attraction
attraction landmark sight
guide tutorial manual
manual instruction documentation
documentation docs doc
passport embassy > travel
backpack luggage camping > travel
cruise ferry ship > travel
ship boat vessel
airport terminal gate > flight
checkin boarding layover > flight
roundtrip oneway nonstop > flight
suite room night > hotel
room > hotel
bnb hostel motel inn > hotel accommodation
puppy breed vet > pet dog
vet veterinarian > pet animal
garden gardening seed soil > plant
kitchen oven bake baking grill > cooking recipe
ingredient flour sugar egg butter > recipe
dish cuisine meal
lunch dinner > restaurant
furniture decor renovation > home
temperature humidity wind > weather
thermostat lights appliance > home device
fan heater conditioner > appliance temperature
children kids toddler > child
learning educational > education
activity game
brother sister mother father > family
love relationship marriage > dating
marriage wedding
gift souvenir
coupon voucher promo promotion > discount
promotion discount offer
price compare cheapest > shopping product
sale bargain > discount
brand company logo
officer ceo founder executive > company
address headquarters > company location
competitor > company market
trend insight analysis
insight analysis
opinion sentiment
sentiment emotion
emotion feeling mood
advice recommendation guidance
guidance advice guide
strategy plan
tip advice
fact trivia information
quote inspire motivation
buscar search find
crear create
borrar eliminar delete remove
archivo fichero file
carpeta folder
enviar send
correo email
mensaje message
tiempo clima weather time
traducir translate
imagen image
calendario calendar
reunion meeting
vuelo flight
precio price
lista list
actualizar update
leer read
escribir write
chercher rechercher search find
creer create
supprimer delete
fichier file
dossier folder
envoyer send
courriel email
meteo weather
traduire translate
reunion meeting
prix price
vol flight
lire read
ecrire write
suchen search find
erstellen anlegen create
loschen delete
datei file
ordner folder
senden send
nachricht message
wetter weather
ubersetzen translate
bild image
kalender calendar
preis price
flug flight
lesen read
schreiben write
поиск найти search find
создать create
удалить delete
файл file
папка folder
отправить send
письмо email
погода weather
перевести translate
цена price
搜索 查找 检索 查询 search find query lookup
创建 新建 建立 create new
删除 移除 delete remove
更新 修改 编辑 update edit modify
获取 查看 读取 get fetch read view
列出 列表 list
发送 send
消息 信息 message
邮件 email
文件 file document
目录 文件 directory folder
图片 图像 image picture
视频 video
音乐 music
天气 날씨 weather
气温 温度 temperature
时间 time
日期 date
日历 calendar
会议 meeting
地图 map
路线 导航 route directions
地址 address
城市 city
航班 机票 flight
火车 车票 train ticket
酒店 hotel
餐厅 restaurant
价格 price
股票 stock
汇率 货币 currency exchange
翻译 translate
新闻 news
网页 网站 webpage website
代码 code
仓库 repository
分支 branch
提交 commit submit
工单 ticket issue
问题 issue question
任务 task
用户 user
订单 order
支付 payment
数据 data
表格 table spreadsheet
计算 calculate
转换 convert
下载 download
上传 upload
分析 analyze
总结 摘要 summarize
运行 执行 run execute
工作 work job
菜谱 食谱 recipe
食材 ingredient
步骤 step
排行 热门 榜单 热搜 trend trending popular rank hot top
新闻 资讯 news
推荐 recommend
优惠 discount deal
商品 产品 product
书籍 图书 读书 book read
小说 novel
电影 movie film
游戏 game
卡牌 card
角色 character
名称 name
详情 详细 detail
内容 content
链接 link url
标题 title
关键 keyword
结果 result
车站 station
余票 ticket
文本 text
文档 document
笔记 note
项目 project
消费 shopping
评测 review
攻略 guide
组件 component
信息 information
数字 number
随机 random
语音 voice speech
聊天 chat
学习 learn study
健康 health
医院 hospital
公司 企业 company
市场 market
交易 trade transaction
账户 账号 account
密码 password
登录 login
通知 notification
提醒 remind reminder
状态 status
版本 version
列车 train
旅游 旅行 travel
路径 path route
位置 location
坐标 coordinate
空间 space
検索 search
作成 create
削除 delete
更新 update
取得 get
送信 send
天気 weather
翻訳 translate
画像 image
予定 schedule calendar
会議 meeting
검색 search find
생성 create
삭제 delete
수정 update edit
조회 get query
실행 run execute start
중지 정지 stop
번역 translate
파일 file
이미지 image
일정 schedule calendar
메일 email
설정 set setting
정보 information
에어컨 air conditioner
`

// A synonymTable is the tables, read.
type synonymTable struct {
	family map[string]string   // word to the stem that stands for it
	group  map[string][]string // stem to other stems
}

var synonyms = sync.OnceValue(func() *synonymTable {
	t := &synonymTable{family: make(map[string]string, 1<<10), group: make(map[string][]string, 1<<11)}
	for line := range strings.Lines(ownStems) {
		for _, w := range strings.Fields(line) {
			t.family[w] = w
		}
	}
	for line := range strings.Lines(families) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		first := string(stem([]byte(words[0])))
		for _, w := range words {
			t.family[w] = first
		}
	}
	for line := range strings.Lines(synonymGroups) {
		from, to, directed := strings.Cut(line, " > ")
		left := t.stems(from)
		right := left
		if directed {
			right = t.stems(to)
		}
		for _, l := range left {
			t.link(l, right)
		}
	}
	return t
})

func (t *synonymTable) stems(line string) []string {
	var out []string
	for _, w := range strings.Fields(line) {
		out = append(out, string(t.stem([]byte(w))))
	}
	return out
}

func (t *synonymTable) link(from string, to []string) {
	for _, s := range to {
		if s != from && !slices.Contains(t.group[from], s) {
			t.group[from] = append(t.group[from], s)
		}
	}
}

// stem is the stem of a lower-case word, or that of its family. It may
// overwrite b.
func (t *synonymTable) stem(b []byte) []byte {
	if f, ok := t.family[string(b)]; ok {
		return append(b[:0], f...)
	}
	if n := len(b); n > 3 && b[n-1] == 's' {
		if f, ok := t.family[string(b[:n-1])]; ok {
			return append(b[:0], f...)
		}
		if string(b[n-3:]) == "ies" {
			var word [maxWordBytes]byte
			if f, ok := t.family[string(append(append(word[:0], b[:n-3]...), 'y'))]; ok {
				return append(b[:0], f...)
			}
		}
	}
	return stem(b)
}

// familyStem is the stem that a lower-case word is indexed by. It may overwrite
// b.
func familyStem(b []byte) []byte { return synonyms().stem(b) }
