"""Lists of names that everybody knows, such as the countries of the world, as English tables write them.

A bought schema lists the texts that noise does not hide. Where these are names of one public list, the rest of the list
is known without the records, and a rare name needs no count that passes a threshold. Names of countries are the short
English ones that are common, with some that are not states; codes are those of ISO 3166 and of the US Postal Service.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

LEAST, LEAST_LONG, LONG = 3, 2, 6
"""Texts that must be in a list: fewer may be there by chance, unless each is a name of so many letters."""

SHARE = 0.75
"""Of the texts that are known, those that must be in it: tables have some names of their own."""

_BETWEEN_WORDS = re.compile(r"[\s_.-]+")


@dataclass(frozen=True)
class PublicList:
    """Names, each once.

    Args:
        name: of the list, for comments.
        text: the names, divided by commas.
    """

    name: str
    text: str

    @cached_property
    def entries(self) -> dict[str, str]:
        """The names, by what they have in common in all notations."""
        return {_plain(entry): " ".join(entry.split()) for entry in self.text.split(",")}

    def others(self, texts: Sequence[str]) -> list[str]:
        """The names that are not among `texts`, written as these are."""
        present = set(map(_plain, texts))
        return [_written_like(texts, name) for plain, name in self.entries.items() if plain not in present]


def public_list_of(texts: Sequence[str]) -> PublicList | None:
    """The one list that has nearly all of `texts`; None where there is none, or more than one."""
    plain = list(map(_plain, texts))
    least = LEAST_LONG if all(len(one) >= LONG for one in plain) else LEAST
    found = []
    for each in LISTS:
        inside = sum(one in each.entries for one in plain)
        if inside >= max(least, SHARE * len(plain)):
            found.append(each)
    return found[0] if len(found) == 1 else None


def _plain(text: str) -> str:
    return _BETWEEN_WORDS.sub(" ", text).strip().casefold()


def _written_like(texts: Sequence[str], name: str) -> str:
    """A name in capitals or small letters, where all texts are, and with what most of them have between words."""
    for like in (str.upper, str.lower):
        if all(text == like(text) for text in texts):
            name = like(name)
    marks = [mark for text in texts for mark in _BETWEEN_WORDS.findall(text.strip())]
    return name.replace(" ", max(marks, key=marks.count)) if marks else name


LISTS = (
    PublicList(
        "countries",
        """
Afghanistan, Albania, Algeria, Andorra, Angola, Antigua and Barbuda, Argentina, Armenia, Aruba, Australia, Austria,
Azerbaijan, Bahamas, Bahrain, Bangladesh, Barbados, Belarus, Belgium, Belize, Benin, Bermuda, Bhutan, Bolivia,
Bosnia and Herzegovina, Botswana, Brazil, Brunei, Bulgaria, Burkina Faso, Burundi, Cambodia, Cameroon, Canada, Cape
Verde, Central African Republic, Chad, Chile, China, Colombia, Comoros, Congo, Costa Rica, Croatia, Cuba, Cyprus,
Czech Republic, Denmark, Djibouti, Dominica, Dominican Republic, Ecuador, Egypt, El Salvador, England, Equatorial
Guinea, Eritrea, Estonia, Eswatini, Ethiopia, Fiji, Finland, France, Gabon, Gambia, Georgia, Germany, Ghana, Greece,
Grenada, Guam, Guatemala, Guinea, Guyana, Haiti, Honduras, Hong Kong, Hungary, Iceland, India, Indonesia, Iran,
Iraq, Ireland, Israel, Italy, Ivory Coast, Jamaica, Japan, Jordan, Kazakhstan, Kenya, Kiribati, Kosovo, Kuwait,
Kyrgyzstan, Laos, Latvia, Lebanon, Lesotho, Liberia, Libya, Liechtenstein, Lithuania, Luxembourg, Macau, Madagascar,
Malawi, Malaysia, Maldives, Mali, Malta, Marshall Islands, Mauritania, Mauritius, Mexico, Micronesia, Moldova,
Monaco, Mongolia, Montenegro, Morocco, Mozambique, Myanmar, Namibia, Nauru, Nepal, Netherlands, New Zealand,
Nicaragua, Niger, Nigeria, North Korea, North Macedonia, Norway, Oman, Pakistan, Palau, Palestine, Panama, Papua New
Guinea, Paraguay, Peru, Philippines, Poland, Portugal, Puerto Rico, Qatar, Romania, Russia, Rwanda, Saint Lucia,
Samoa, San Marino, Saudi Arabia, Scotland, Senegal, Serbia, Seychelles, Sierra Leone, Singapore, Slovakia, Slovenia,
Solomon Islands, Somalia, South Africa, South Korea, South Sudan, Spain, Sri Lanka, Sudan, Suriname, Sweden,
Switzerland, Syria, Taiwan, Tajikistan, Tanzania, Thailand, Timor Leste, Togo, Tonga, Trinidad and Tobago, Tunisia,
Turkey, Turkmenistan, Tuvalu, Uganda, Ukraine, United Arab Emirates, United Kingdom, United States, Uruguay,
Uzbekistan, Vanuatu, Venezuela, Vietnam, Yemen, Yugoslavia, Zambia, Zimbabwe
""",
    ),
    PublicList(
        "countries' codes of two letters",
        """
AD, AE, AF, AG, AI, AL, AM, AO, AQ, AR, AS, AT, AU, AW, AX, AZ, BA, BB, BD, BE, BF, BG, BH, BI, BJ, BL, BM, BN, BO,
BQ, BR, BS, BT, BV, BW, BY, BZ, CA, CC, CD, CF, CG, CH, CI, CK, CL, CM, CN, CO, CR, CU, CV, CW, CX, CY, CZ, DE, DJ,
DK, DM, DO, DZ, EC, EE, EG, EH, ER, ES, ET, FI, FJ, FK, FM, FO, FR, GA, GB, GD, GE, GF, GG, GH, GI, GL, GM, GN, GP,
GQ, GR, GS, GT, GU, GW, GY, HK, HM, HN, HR, HT, HU, ID, IE, IL, IM, IN, IO, IQ, IR, IS, IT, JE, JM, JO, JP, KE, KG,
KH, KI, KM, KN, KP, KR, KW, KY, KZ, LA, LB, LC, LI, LK, LR, LS, LT, LU, LV, LY, MA, MC, MD, ME, MF, MG, MH, MK, ML,
MM, MN, MO, MP, MQ, MR, MS, MT, MU, MV, MW, MX, MY, MZ, NA, NC, NE, NF, NG, NI, NL, NO, NP, NR, NU, NZ, OM, PA, PE,
PF, PG, PH, PK, PL, PM, PN, PR, PS, PT, PW, PY, QA, RE, RO, RS, RU, RW, SA, SB, SC, SD, SE, SG, SH, SI, SJ, SK, SL,
SM, SN, SO, SR, SS, ST, SV, SX, SY, SZ, TC, TD, TF, TG, TH, TJ, TK, TL, TM, TN, TO, TR, TT, TV, TW, TZ, UA, UG, UM,
US, UY, UZ, VA, VC, VE, VG, VI, VN, VU, WF, WS, YE, YT, ZA, ZM, ZW
""",
    ),
    PublicList(
        "states of the US",
        """
Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, District of Columbia, Florida,
Georgia, Hawaii, Idaho, Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts,
Michigan, Minnesota, Mississippi, Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New
York, North Carolina, North Dakota, Ohio, Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South
Dakota, Tennessee, Texas, Utah, Vermont, Virginia, Washington, West Virginia, Wisconsin, Wyoming
""",
    ),
    PublicList(
        "codes of the states of the US",
        """
AL, AK, AZ, AR, CA, CO, CT, DE, DC, FL, GA, HI, ID, IL, IN, IA, KS, KY, LA, ME, MD, MA, MI, MN, MS, MO, MT, NE, NV,
NH, NJ, NM, NY, NC, ND, OH, OK, OR, PA, RI, SC, SD, TN, TX, UT, VT, VA, WA, WV, WI, WY
""",
    ),
    PublicList(
        "months",
        """
January, February, March, April, May, June, July, August, September, October, November, December
""",
    ),
    PublicList(
        "months, in short",
        """
Jan, Feb, Mar, Apr, May, Jun, Jul, Aug, Sep, Oct, Nov, Dec
""",
    ),
    PublicList(
        "days of the week",
        """
Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
""",
    ),
    PublicList(
        "days of the week, in short",
        """
Mon, Tue, Wed, Thu, Fri, Sat, Sun
""",
    ),
)
